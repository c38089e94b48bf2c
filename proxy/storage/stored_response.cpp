#include "proxy/storage/stored_response.hpp"

#include <algorithm>

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
    return proxy::text_bytes(head) + proxy::text_bytes(vary_names) + proxy::text_bytes(variant);
}

void StoredMetadata::shrink() {
    for (auto* text : {&head, &vary_names, &variant}) proxy::shrink(*text);
    if (tags.capacity() - tags.size() > tags.size() / 8) tags.shrink_to_fit();
}

std::vector<Field> StoredMetadata::fields() const {
    std::vector<Field> result;
    std::string_view rest = head;
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));  // the status line
    while (!rest.empty()) {
        const auto end = rest.find("\r\n");
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto name = line.substr(0, colon);
        auto value = line.substr(colon + 1);
        if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        result.push_back(
            {boost::beast::http::string_to_field({name.data(), name.size()}), name, value});
    }
    return result;
}

}  // namespace proxy
