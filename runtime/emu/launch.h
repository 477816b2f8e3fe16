/* How the host launches kernels of an emulated module: a shared object made by g++ from CUDA text with cuda_emu.h.
 *
 * Plain C. Every module exports hd_emu_launch under this name: take it from the module's own handle (dlsym). Modules share
 * no state. Several threads may launch at the same time, also from one module. */
#ifndef HD_EMU_LAUNCH_H
#define HD_EMU_LAUNCH_H

#include <stdint.h>

#define HD_EMU_VERSION 1u

enum { HD_EMU_OK = 0, HD_EMU_UNKNOWN_KERNEL = 1, HD_EMU_DEVICE_ERROR = 2 };
enum { HD_EMU_FORWARD = 0, HD_EMU_REVERSE = 1, HD_EMU_RANDOM = 2 };

typedef struct {
    uint32_t version;          /* HD_EMU_VERSION */
    uint32_t order;            /* of lanes and blocks: HD_EMU_FORWARD ... HD_EMU_RANDOM (by seed) */
    uint32_t shared_pattern;   /* the byte that block-shared memory holds when a block starts */
    uint32_t private_pattern;  /* the byte that HD_FILL writes, and that undefined results consist of */
    uint64_t seed;             /* of random order, and in every order of when atomic operations let others run */
    uint64_t stack_bytes;      /* of a lane; 0: 512 KiB, the largest; below 32 KiB: 32 KiB */
    uint64_t spin_limit;       /* atomic operations of a block, one after the other, that change nothing; 0: chosen */
} hd_emu_config;

/* What a cudaTextureObject_t is the address of. A fetch beyond the end gives zero, as on a GPU. */
typedef struct {
    const void *data;
    uint64_t elements;
    uint64_t element_bytes;
} hd_emu_texture;

#ifdef __cplusplus
extern "C" {
#endif

/* Runs every block of the grid and returns when the last has ended. `args`: the addresses of the kernel's arguments.
 * HD_EMU_DEVICE_ERROR: what a kernel did wrong, or that the launch itself is impossible; `error` says what (always
 * terminated). Blocks after the one that failed have not run then. */
__attribute__((visibility("default")))
int hd_emu_launch(const hd_emu_config *config, const char *kernel, const uint32_t grid[3], const uint32_t block[3],
                  uint64_t shared_bytes, void **args, char *error, uint64_t error_size);

#ifdef __cplusplus
}
#endif
#endif
