#pragma once

#include <cstdint>
#include <vector>

#include "measure/simulate/objects.hpp"

namespace measure {

/// What a disk takes for each object: its records, as the node writes them, and their entries in
/// footers; a byte each for unit objects.
std::vector<std::uint64_t> record_bytes(const Objects& objects, bool unit_objects);

}  // namespace measure
