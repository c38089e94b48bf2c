#include "proxy/client/proxy_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/net/plain_address.hpp"
#include "base/text/number.hpp"
#include "proxy/config/prefix_list.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;
using namespace std::string_view_literals;

constexpr auto kSignature = "\r\n\r\n\0\r\nQUIT\n"sv;
static_assert(kSignature.size() == kProxySignature && kProxySignature + 4 == kProxyHeaderStart);
constexpr auto kLineBegin = "PROXY "sv;

unsigned byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

template <class Address>
ip::address address_at(std::string_view text, std::size_t at) {
    typename Address::bytes_type bytes;
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(),
                reinterpret_cast<char*>(bytes.data()));
    return base::plain_address(Address(bytes));
}

/// Takes a word and the one space behind it.
std::string_view take_word(std::string_view& rest) {
    const auto end = rest.find(' ');
    const auto word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return word;
}

bool is_port(std::string_view word) {
    const auto port = base::parse_number(word);
    return port && *port <= std::numeric_limits<std::uint16_t>::max();
}

std::optional<ProxyHeader> parse_addresses(std::string_view words, bool v4) {
    std::array<ip::address, 2> addresses;  // of the client, and of the proxy
    for (auto& address : addresses) {
        boost::system::error_code bad;
        address = ip::make_address(std::string(take_word(words)), bad);
        if (bad || address.is_v4() != v4) return std::nullopt;
    }
    const auto port_of_client = take_word(words);
    if (!is_port(port_of_client) || !is_port(words)) return std::nullopt;
    return ProxyHeader{base::plain_address(addresses[0])};
}

std::optional<ProxyHeader> parse_line(std::string_view line) {
    if (line.size() > kMaxProxyLine || !line.ends_with("\r\n")) return std::nullopt;
    if (line.find('\n') + 1 != line.size()) return std::nullopt;
    line.remove_prefix(kLineBegin.size());
    line.remove_suffix(2);
    const auto kind = take_word(line);
    if (kind == "UNKNOWN") return ProxyHeader{};
    if (kind == "TCP4") return parse_addresses(line, true);
    if (kind == "TCP6") return parse_addresses(line, false);
    return std::nullopt;
}

}  // namespace

ProxyHeaderVersion proxy_header_version(std::string_view start) {
    if (start.starts_with(kSignature)) return ProxyHeaderVersion::two;
    return start.starts_with(kLineBegin) ? ProxyHeaderVersion::one : ProxyHeaderVersion::none;
}

std::optional<std::size_t> proxy_header_rest(std::string_view start) {
    if (start.size() < kProxyHeaderStart || !start.starts_with(kSignature) ||
        byte_at(start, 12) >> 4 != 2)
        return std::nullopt;
    const auto rest = byte_at(start, 14) << 8 | byte_at(start, 15);
    if (rest > kMaxProxyHeaderRest) return std::nullopt;
    return rest;
}

std::optional<ProxyHeader> parse_proxy_header(std::string_view header) {
    if (header.starts_with(kLineBegin)) return parse_line(header);
    const auto rest = proxy_header_rest(header);
    if (!rest || header.size() != kProxyHeaderStart + *rest) return std::nullopt;
    enum Command : unsigned { local = 0, proxy = 1 };
    enum Kind : unsigned { unspecified = 0x00, tcp4 = 0x11, tcp6 = 0x21, unix_stream = 0x31 };
    const auto command = byte_at(header, 12) & 15;
    if (command == local) return ProxyHeader{};
    if (command != proxy) return std::nullopt;
    switch (byte_at(header, 13)) {
        case tcp4:
            if (*rest < 12) return std::nullopt;
            return ProxyHeader{address_at<ip::address_v4>(header, kProxyHeaderStart)};
        case tcp6:
            if (*rest < 36) return std::nullopt;
            return ProxyHeader{address_at<ip::address_v6>(header, kProxyHeaderStart)};
        case unspecified:
        case unix_stream:
            return ProxyHeader{};
        default:
            return std::nullopt;
    }
}

}  // namespace proxy
