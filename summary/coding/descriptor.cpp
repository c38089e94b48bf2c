#include "summary/coding/descriptor.hpp"

#include <algorithm>

namespace summary {

std::optional<Descriptor> Descriptor::from(std::span<const std::byte> bytes) {
    if (bytes.empty() || bytes.size() > kMaxDescriptorBytes) return std::nullopt;
    Descriptor result;
    std::copy(bytes.begin(), bytes.end(), result.bytes_.begin());
    result.size_ = bytes.size();
    return result;
}

}  // namespace summary
