// How the host runs a kernel of an emulator module: each module exports hd_emu_launch. Plain C.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t order;    // which lane runs first: 0 forward, 1 reverse, 2 random by seed
    uint32_t pattern;  // byte that private and shared memory hold before they are written
    uint64_t seed;
} hd_emu_config;

// Runs one grid to its end. `args`: addresses of the kernel's arguments. Returns 0; else a reason is in `error`.
int hd_emu_launch(const hd_emu_config *config, const char *kernel, const uint32_t grid[3], const uint32_t block[3],
                  uint64_t shared_bytes, void **args, char *error, uint64_t error_size);

#ifdef __cplusplus
}
#endif
