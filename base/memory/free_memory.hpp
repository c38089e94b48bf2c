#pragma once

namespace base {

/// Returns the freed memory that the allocator keeps to the system, for which the program would
/// find a use only at its next peak. Takes milliseconds. Any thread.
void return_free_memory();

}  // namespace base
