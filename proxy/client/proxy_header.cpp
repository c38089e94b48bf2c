#include "proxy/client/proxy_header.hpp"

#include <algorithm>

#include "protocol/net/plain_address.hpp"
#include "proxy/config/prefix_list.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;
using namespace std::string_view_literals;

constexpr auto kSignature = "\r\n\r\n\0\r\nQUIT\n"sv;
static_assert(kSignature.size() + 4 == kProxyHeaderStart);

unsigned byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

template <class Address>
ip::address address_at(std::string_view text, std::size_t at) {
    typename Address::bytes_type bytes;
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(),
                reinterpret_cast<char*>(bytes.data()));
    return protocol::plain_address(Address(bytes));
}

}  // namespace

bool begins_as_proxy_header(std::string_view start) {
    return start.starts_with(kSignature);
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
