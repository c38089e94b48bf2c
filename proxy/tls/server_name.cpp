#include "proxy/tls/server_name.hpp"

#include <cstddef>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

constexpr std::size_t kMostOfName = 255;

/// Takes a big-endian number of two bytes, which have to be there.
std::size_t take_length(std::string_view& from) {
    const auto high = static_cast<unsigned char>(from[0]);
    const auto low = static_cast<unsigned char>(from[1]);
    from.remove_prefix(2);
    return std::size_t{high} << 8 | low;
}

}  // namespace

std::string plain_server_name(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.size() > kMostOfName || text.find('\0') != text.npos) return {};
    std::string name;
    append_lower(name, text);
    return name;
}

// OpenSSL's reader takes a list of one entry only, as RFC 6066 allows one name of each type and
// defines one type.
std::string server_name(std::string_view extension) {
    constexpr std::size_t kLength = 2, kEntryHead = 3;
    constexpr char kHostName = 0;
    if (extension.size() < kLength + kEntryHead) return {};
    if (take_length(extension) != extension.size()) return {};
    const auto type = extension.front();
    extension.remove_prefix(1);
    if (take_length(extension) != extension.size() || type != kHostName) return {};
    return plain_server_name(extension);
}

}  // namespace proxy
