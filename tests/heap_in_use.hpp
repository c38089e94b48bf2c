#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#ifdef HEARSAY_SANITIZED
// As sanitizer/allocator_interface.h declares them, which GCC does not install.
extern "C" {
std::size_t __sanitizer_get_allocated_size(const volatile void* p);
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                  std::size_t),
                                              void (*free_hook)(const volatile void*));
}
#endif

namespace test {

/// Bytes that this process holds from the heap, from any thread. The difference of two readings is
/// the memory taken between them. A sanitizer's heap has an overhead of its own, so each allocation
/// counts there as the chunk that glibc would use; the first reading begins that count.
#ifdef HEARSAY_SANITIZED
inline std::int64_t chunk_of(std::size_t bytes) {
    constexpr std::size_t kLeast = 32, kHead = 8, kStep = 16;
    return static_cast<std::int64_t>(std::max(kLeast, (bytes + kHead + kStep - 1) / kStep * kStep));
}
inline std::uint64_t heap_in_use() {
    static std::atomic<std::int64_t> chunk_bytes{std::int64_t{1} << 40};
    static const int installed = __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t bytes) { chunk_bytes += chunk_of(bytes); },
        [](const volatile void* freed) {
            chunk_bytes -= chunk_of(__sanitizer_get_allocated_size(freed));
        });
    if (installed == 0) throw std::logic_error("the sanitizer takes no hooks");
    return static_cast<std::uint64_t>(chunk_bytes.load());
}
#else
inline std::uint64_t heap_in_use() {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}
#endif

}  // namespace test
