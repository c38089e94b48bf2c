#include "proxy/config/prefix_list.hpp"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cassert>
#include <charconv>
#include <optional>

#include "base/net/plain_address.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kBitsV4 = 32, kBitsV6 = 128, kMappedBits = kBitsV6 - kBitsV4;

/// The `count` leading ones of a word; all 64 and more give all.
std::uint64_t leading_ones(unsigned count) {
    if (count == 0) return 0;
    return count >= 64 ? ~0ull : ~0ull << (64 - count);
}

std::optional<unsigned> parse_bits(std::string_view digits, unsigned most) {
    unsigned bits = 0;
    const auto end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, bits);
    if (error != std::errc() || stop != end || bits > most) return std::nullopt;
    return bits;
}

}  // namespace

PrefixList::PrefixList(std::initializer_list<std::string_view> texts) {
    for (const auto text : texts) {
        [[maybe_unused]] const auto good = add(text);
        assert(good);
    }
}

PrefixList::Bits PrefixList::bits_of(const ip::address& plain) {
    if (plain.is_v4()) return {0, plain.to_v4().to_uint()};
    const auto bytes = plain.to_v6().to_bytes();
    return {boost::endian::load_big_u64(bytes.data()), boost::endian::load_big_u64(&bytes[8])};
}

bool PrefixList::add(std::string_view text) {
    const auto slash = text.find('/');
    boost::system::error_code error;
    const auto given = ip::make_address(std::string(text.substr(0, slash)), error);
    if (error || (given.is_v6() && given.to_v6().scope_id() != 0)) return false;
    auto bits = given.is_v4() ? kBitsV4 : kBitsV6;
    if (slash != std::string_view::npos) {
        const auto read = parse_bits(text.substr(slash + 1), bits);
        if (!read) return false;
        bits = *read;
    }
    auto address = given;
    if (given.is_v6() && given.to_v6().is_v4_mapped() && bits >= kMappedBits) {
        address = base::plain_address(given);
        bits -= kMappedBits;
    }
    Prefix prefix{address.is_v4(), bits_of(address), {}};
    if (prefix.v4)
        prefix.mask.low = leading_ones(bits) >> 32;
    else
        prefix.mask = {leading_ones(bits), bits > 64 ? leading_ones(bits - 64) : 0};
    prefix.network.high &= prefix.mask.high;
    prefix.network.low &= prefix.mask.low;
    prefixes_.push_back(prefix);
    texts_.emplace_back(text);
    return true;
}

void PrefixList::clear() {
    prefixes_.clear();
    texts_.clear();
}

bool PrefixList::contains(const ip::address& address) const {
    if (prefixes_.empty()) return false;
    const auto plain = base::plain_address(address);
    const auto bits = bits_of(plain);
    return std::any_of(prefixes_.begin(), prefixes_.end(), [&](const Prefix& prefix) {
        return prefix.v4 == plain.is_v4() &&
               (bits.high & prefix.mask.high) == prefix.network.high &&
               (bits.low & prefix.mask.low) == prefix.network.low;
    });
}

}  // namespace proxy
