#include "base/memory/free_memory.hpp"

#include <malloc.h>

#include <cstddef>

// Of jemalloc. A program that is linked without it has the allocator of the C library, or of a
// sanitizer.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* fresh,
                       std::size_t fresh_size) __attribute__((weak));

// Its settings. A thread of its own returns what nobody uses for 10 s. Without it, jemalloc does so
// only while the program allocates, and a purge of everything leaves an idle node as large as it
// was.
extern "C" const char* malloc_conf = "background_thread:true";

namespace base {

void return_free_memory() {
    if (mallctl)
        mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
    else
        ::malloc_trim(0);
}

}  // namespace base
