#include "proxy/disk/admission_filter.hpp"

namespace proxy {

bool AdmissionFilter::admits(summary::KeyHash key, bool has_room, std::uint64_t objects_on_disk) {
    const auto wanted = kWindow * objects_on_disk;
    if (wanted >= 2 * seen_.capacity())
        seen_ = summary::AgingBloomFilter({.keys = wanted, .error = kError});
    return seen_.check_and_insert(key) || has_room;
}

}  // namespace proxy
