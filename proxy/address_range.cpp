#include "proxy/address_range.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kBitsV4 = 32, kBitsV6 = 128;

std::optional<ip::address> parse_address(std::string_view text) {
    boost::system::error_code error;
    const auto address = ip::make_address(std::string(text), error);
    if (error) return std::nullopt;
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

struct Range {
    ip::address address;
    unsigned short bits = 0;
};

std::optional<Range> parse_range(std::string_view text) {
    const auto slash = text.find('/');
    const auto address = parse_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    const unsigned most = address->is_v4() ? kBitsV4 : kBitsV6;
    unsigned bits = most;
    if (slash != std::string_view::npos) {
        const auto digits = text.substr(slash + 1);
        const auto end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, bits);
        if (error != std::errc() || stop != end || bits > most) return std::nullopt;
    }
    return Range{*address, static_cast<unsigned short>(bits)};
}

}  // namespace

bool is_address_range(std::string_view text) {
    return parse_range(text).has_value();
}

bool in_address_range(std::string_view address, std::string_view range) {
    const auto one = parse_address(address);
    const auto all = parse_range(range);
    if (!one || !all || one->is_v4() != all->address.is_v4()) return false;
    if (one->is_v4()) {
        return ip::network_v4(one->to_v4(), all->bits).canonical() ==
               ip::network_v4(all->address.to_v4(), all->bits).canonical();
    }
    // A scope is where an address was seen, not part of a prefix.
    const ip::address_v6 bare(one->to_v6().to_bytes());
    return ip::network_v6(bare, all->bits).canonical() ==
           ip::network_v6(all->address.to_v6(), all->bits).canonical();
}

}  // namespace proxy
