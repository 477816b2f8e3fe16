// A host kernel's main(), behind the text. The loop's end prints the lines (lane.cuh).
#pragma once

#include "input.h"
#include "live_ins.h"
#include "steps/abi.h"

// given: the program hands variables over from before its loop.
#define HD_MAIN(kernel, Shared, given)                                                            \
    int main(int, char **words) {                                                                 \
        hd::input.take(words[0] ? words[1] : nullptr);                                            \
        alignas(16) static Shared shared;                                                         \
        if (given) hd::LiveIns::read(reinterpret_cast<char *>(&shared), sizeof shared);           \
        kernel(hd::Task{}, shared);                                                               \
        return 0;                                                                                 \
    }
