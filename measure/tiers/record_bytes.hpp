#pragma once

#include <cstdint>
#include <vector>

#include "measure/simulate/objects.hpp"

namespace measure {

/// Returns the disk space of each object: its records as the node writes them, and their entries in
/// footers. Unit objects take one byte.
std::vector<std::uint64_t> record_bytes(const Objects& objects, bool unit_objects);

}  // namespace measure
