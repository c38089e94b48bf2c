#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// Addresses (`10.0.0.7`, `::1`) and prefixes (`10.0.0.0/8`, `fe80::/10`), parsed once. An IPv4
/// prefix is for IPv4 addresses in any notation (base::plain_address), an IPv6 one for the
/// others. `0.0.0.0/0` and `::/0` together are all addresses.
class PrefixList {
public:
    PrefixList() = default;
    /// Precondition: the texts are correct.
    PrefixList(std::initializer_list<std::string_view> texts);

    /// False if the text is neither address nor prefix. The list stays as it was then.
    bool add(std::string_view text);
    void clear();

    bool contains(const boost::asio::ip::address& address) const;

    bool empty() const { return texts_.empty(); }
    const std::vector<std::string>& texts() const { return texts_; }  // as they were added
    bool operator==(const PrefixList& other) const { return texts_ == other.texts_; }

private:
    /// The 128 bits of an address, in two words; an IPv4 one in the low word's low half.
    struct Bits {
        std::uint64_t high = 0, low = 0;
    };
    struct Prefix {
        bool v4;
        Bits network, mask;
    };
    static Bits bits_of(const boost::asio::ip::address& plain);

    std::vector<Prefix> prefixes_;
    std::vector<std::string> texts_;
};

}  // namespace proxy
