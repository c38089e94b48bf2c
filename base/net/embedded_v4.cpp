#include "base/net/embedded_v4.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace base {
namespace {

namespace ip = boost::asio::ip;
using BytePlaces = std::array<std::uint8_t, 4>;  // of the bytes of the IPv4 address

constexpr BytePlaces kLastBytes{12, 13, 14, 15};

struct EmbeddedForm {
    std::size_t at;  // of `bytes` in the IPv6 address
    std::vector<std::uint8_t> bytes;
    std::vector<BytePlaces> places;
    bool is_inverted = false;  // the last place
};

bool has_form(const EmbeddedForm& form, const ip::address_v6::bytes_type& bytes) {
    return std::equal(form.bytes.begin(), form.bytes.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(form.at));
}

}  // namespace

std::vector<ip::address_v4> embedded_v4(const ip::address& address) {
    if (address.is_v4()) return {};
    const auto& v6 = address.to_v6();
    if (v6.is_loopback() || v6.is_unspecified()) return {};
    // RFC 6052 leaves byte 8 free, so an address goes on behind it.
    static const std::array kForms{
        EmbeddedForm{0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, {kLastBytes}},
        EmbeddedForm{0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {kLastBytes}},
        EmbeddedForm{0, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, {kLastBytes}},
        EmbeddedForm{0, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, {kLastBytes}},
        EmbeddedForm{0,
                     {0, 0x64, 0xff, 0x9b, 0, 1},
                     {{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, kLastBytes}},
        EmbeddedForm{0, {0x20, 0x02}, {{2, 3, 4, 5}}},
        EmbeddedForm{0, {0x20, 0x01, 0, 0}, {{4, 5, 6, 7}, kLastBytes}, true},
        EmbeddedForm{8, {0, 0, 0x5e, 0xfe}, {kLastBytes}},
        EmbeddedForm{8, {2, 0, 0x5e, 0xfe}, {kLastBytes}},
    };
    const auto bytes = v6.to_bytes();
    std::vector<ip::address_v4> found;
    for (const auto& form : kForms) {
        if (!has_form(form, bytes)) continue;
        for (const auto& place : form.places) {
            ip::address_v4::bytes_type v4;
            std::ranges::transform(place, v4.begin(), [&](auto at) { return bytes[at]; });
            if (form.is_inverted && &place == &form.places.back())
                for (auto& byte : v4) byte = static_cast<std::uint8_t>(~byte);
            found.emplace_back(v4);
        }
    }
    return found;
}

}  // namespace base
