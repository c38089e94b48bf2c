#pragma once

namespace base {

/// Returns to the system the freed memory that the allocator keeps, which the program would use
/// again only at its next peak. Takes milliseconds. Any thread.
void return_free_memory();

}  // namespace base
