#include "app/import/prefix_set.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

namespace app {
namespace {

namespace ip = boost::asio::ip;

std::optional<unsigned> parse_length(std::string_view text, unsigned most) {
    unsigned length = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, length);
    if (error != std::errc() || stop != end || length > most) return std::nullopt;
    return length;
}

std::optional<ip::address> parse_ip(std::string_view text) {
    if (text.size() > 64) return std::nullopt;
    boost::system::error_code error;
    const auto address = ip::make_address(std::string(text), error);
    if (error || (address.is_v6() && address.to_v6().scope_id() != 0)) return std::nullopt;
    return address;
}

/// The length of a mask such as 255.255.0.0.
std::optional<unsigned> length_of_mask(std::string_view text) {
    const auto address = parse_ip(text);
    if (!address || !address->is_v4()) return std::nullopt;
    const auto mask = address->to_v4().to_uint();
    unsigned length = 0;
    while (length < 32 && ((mask >> (31 - length)) & 1) != 0) ++length;
    const auto plain = length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
    if (mask != plain) return std::nullopt;
    return length;
}

/// The fewest networks that make up a range of addresses.
Networks networks_of_range(std::uint32_t first, std::uint32_t last) {
    Networks out;
    for (std::uint64_t at = first; at <= last;) {
        unsigned bits = 0;  // of the largest network that begins here and ends in the range
        while (bits < 32 && (at & ((std::uint64_t{2} << bits) - 1)) == 0 &&
               at + (std::uint64_t{2} << bits) - 1 <= last)
            ++bits;
        out.emplace_back(ip::network_v4(ip::address_v4(static_cast<std::uint32_t>(at)),
                                        static_cast<unsigned short>(32 - bits)));
        at += std::uint64_t{1} << bits;
    }
    return out;
}

}  // namespace

std::optional<Networks> parse_networks(std::string_view text) {
    if (text == "all") return all_networks();
    if (const auto dash = text.find('-'); dash != std::string_view::npos) {
        const auto first = parse_ip(text.substr(0, dash));
        auto upper = text.substr(dash + 1);
        upper = upper.substr(0, upper.find('/'));
        const auto last = parse_ip(upper);
        if (!first || !last || !first->is_v4() || !last->is_v4()) return std::nullopt;
        if (text.find('/') != std::string_view::npos && !text.ends_with("/32")) return std::nullopt;
        if (first->to_v4() > last->to_v4()) return std::nullopt;
        return networks_of_range(first->to_v4().to_uint(), last->to_v4().to_uint());
    }
    const auto slash = text.find('/');
    auto host = text.substr(0, slash);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto address = parse_ip(host);
    if (!address) return std::nullopt;
    const unsigned most = address->is_v4() ? 32 : 128;
    auto length = std::optional<unsigned>(most);
    if (slash != std::string_view::npos) {
        const auto tail = text.substr(slash + 1);
        length = parse_length(tail, most);
        if (!length && address->is_v4()) length = length_of_mask(tail);
        if (!length) return std::nullopt;
    }
    const auto bits = static_cast<unsigned short>(*length);
    if (address->is_v4()) return Networks{ip::network_v4(address->to_v4(), bits).canonical()};
    return Networks{ip::network_v6(address->to_v6(), bits).canonical()};
}

std::string text_of(const Network& network) {
    return std::visit(
        [](const auto& of) {
            const auto whole = of.address().to_bytes().size() * 8;
            return of.prefix_length() == whole ? of.address().to_string() : of.to_string();
        },
        network);
}

bool covers(const Network& outer, const Network& inner) {
    if (outer.index() != inner.index()) return false;
    if (const auto* const a = std::get_if<ip::network_v4>(&outer)) {
        const auto& b = std::get<ip::network_v4>(inner);
        return a->prefix_length() <= b.prefix_length() &&
               ip::network_v4(b.address(), a->prefix_length()).canonical() == *a;
    }
    const auto& a = std::get<ip::network_v6>(outer);
    const auto& b = std::get<ip::network_v6>(inner);
    return a.prefix_length() <= b.prefix_length() &&
           ip::network_v6(b.address(), a.prefix_length()).canonical() == a;
}

Networks intersection(const Networks& a, const Networks& b) {
    Networks out;
    const auto add = [&](const Network& network) {
        if (std::find(out.begin(), out.end(), network) == out.end()) out.push_back(network);
    };
    for (const auto& one : a)
        for (const auto& other : b) {
            if (covers(one, other))
                add(other);
            else if (covers(other, one))
                add(one);
        }
    return out;
}

bool covers_all(const Networks& outer, const Networks& inner) {
    return std::all_of(inner.begin(), inner.end(), [&](const Network& one) {
        return std::any_of(outer.begin(), outer.end(),
                           [&](const Network& other) { return covers(other, one); });
    });
}

Networks all_networks() {
    return {ip::network_v4(ip::address_v4(), 0), ip::network_v6(ip::address_v6(), 0)};
}

bool is_private(const Network& network) {
    static const Networks own = [] {
        Networks out;
        for (const auto* text :
             {"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
              "0.0.0.0/8", "::1", "::", "fc00::/7", "fe80::/10"}) {
            const auto parsed = parse_networks(text);
            out.insert(out.end(), parsed->begin(), parsed->end());
        }
        return out;
    }();
    return covers_all(own, {network});
}

}  // namespace app
