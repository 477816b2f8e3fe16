// Memory that kernels declare: block-shared, filled with a pattern when a block starts; private (HD_FILL); textures.
#pragma once

#include <cstdlib>

#include "block.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

// A number for every HD_SHARED of the module, known by the type of a lambda that is written there. Not a static variable:
// those of inline functions are one for all libraries of a process, as this one would be if it were not hidden itself.
inline unsigned next_shared_number = 1;  // 0 is the dynamic one
template <class Key>
__attribute__((visibility("hidden"))) inline const unsigned shared_number = next_shared_number++;

inline void fill_shared(const Block &block, const SharedObject &object) {
    if (object.memory) std::memset(object.memory, static_cast<int>(block.config.shared_pattern & 0xff), object.bytes);
}

// False: more than a block can have.
inline bool add_shared(Block &block, unsigned number, size_t bytes, size_t alignment) {
    if (number >= most_shared_objects || bytes > most_shared_bytes - block.shared_bytes) return false;
    SharedObject &object = block.shared[number];
    if (::posix_memalign(&object.memory, alignment < 16 ? 16 : alignment, bytes ? bytes : 1)) return false;
    object.bytes = bytes;
    block.shared_bytes += bytes;
    fill_shared(block, object);
    return true;
}

inline void free_shared(Block &block) {
    for (SharedObject &object : block.shared) std::free(object.memory);
}

inline __attribute__((noinline)) void *first_use(Lane &me, unsigned number, size_t bytes, size_t alignment) {
    if (!add_shared(*me.block, number, bytes, alignment))
        me.block->fail(me, "needs more shared memory than %zu bytes for a block, or more than %u objects", most_shared_bytes,
                       most_shared_objects);
    return me.block->shared[number].memory;
}

template <class T, class Key> T &shared(Key) {
    Lane &me = current();
    void *memory = me.block->shared[shared_number<Key>].memory;
    if (!memory) memory = first_use(me, shared_number<Key>, sizeof(T), alignof(T));
    return *static_cast<T *>(memory);
}

inline unsigned char *dynamic_shared() { return static_cast<unsigned char *>(current().block->shared[0].memory); }

template <class T> void fill(T &variable) {
    const int pattern = static_cast<int>(current().block->config.private_pattern & 0xff);
    std::memset(static_cast<void *>(&variable), pattern, sizeof variable);
}

[[noreturn]] inline void fail_texture(const hd_emu_texture &texture, size_t bytes) {
    Lane &me = current();
    me.block->fail(me, "fetches %zu bytes from a texture of elements of %llu bytes", bytes,
                   static_cast<unsigned long long>(texture.element_bytes));
}

}  // namespace hd_emu

#define HD_FILL(variable) ::hd_emu::fill(variable)
#define HD_SHARED(type, name) [[maybe_unused]] type &name = ::hd_emu::shared<type>([] {})
#define HD_SHARED_ARRAY(type, name, n) [[maybe_unused]] type(&name)[n] = ::hd_emu::shared<type[n]>([] {})
#define HD_DYNAMIC_SHARED(name) [[maybe_unused]] unsigned char *const name = ::hd_emu::dynamic_shared()

typedef unsigned long long cudaTextureObject_t;  // the address of a hd_emu_texture

template <class T> T tex1Dfetch(cudaTextureObject_t object, int index) {
    const hd_emu_texture &texture = *reinterpret_cast<const hd_emu_texture *>(object);
    if (texture.element_bytes != sizeof(T)) hd_emu::fail_texture(texture, sizeof(T));
    if (index < 0 || static_cast<uint64_t>(index) >= texture.elements) return T{};
    return static_cast<const T *>(texture.data)[index];
}

template <class T> T __ldg(const T *address) { return *address; }
