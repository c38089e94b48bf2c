#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace proxy {

/// Allocates large blocks as pages of their own, which return to the system when they are freed.
/// Several threads fill such blocks at a start, and on the heap each thread would keep its share.
/// Small blocks come from the heap.
template <class T>
struct PageAllocator {
    using value_type = T;
    static constexpr std::size_t kLarge = 128 * 1024;  // bytes

    PageAllocator() = default;
    template <class Other>
    PageAllocator(const PageAllocator<Other>&) {}

    T* allocate(std::size_t count) {
        const auto bytes = count * sizeof(T);
        if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
        void* pages =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) throw std::bad_alloc();
        return static_cast<T*>(pages);
    }
    void deallocate(T* at, std::size_t count) noexcept {
        const auto bytes = count * sizeof(T);
        bytes < kLarge ? ::operator delete(at) : static_cast<void>(::munmap(at, bytes));
    }
    bool operator==(const PageAllocator&) const = default;
};

template <class T>
using Pages = std::vector<T, PageAllocator<T>>;

}  // namespace proxy
