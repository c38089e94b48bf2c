#include "proxy/storage/stored_response.hpp"

namespace proxy {
namespace {

constexpr std::size_t kAllocation = 16;  // of a heap, beside the bytes
constexpr std::size_t kLittle = 64;

std::uint64_t text_bytes(const std::string& text) {
    static const auto in_place = std::string().capacity();
    return text.capacity() > in_place ? text.capacity() + kAllocation : 0;
}

void shrink(std::string& text) {
    if (text.capacity() - text.size() > text.size() / 8 + kLittle) text.shrink_to_fit();
}

}  // namespace

std::uint64_t StoredMetadata::text_bytes() const {
    return proxy::text_bytes(head_fields) + proxy::text_bytes(vary_names) +
           proxy::text_bytes(variant);
}

void StoredMetadata::shrink() {
    for (auto* text : {&head_fields, &vary_names, &variant}) proxy::shrink(*text);
    if (tags.capacity() - tags.size() > tags.size() / 8) tags.shrink_to_fit();
}

}  // namespace proxy
