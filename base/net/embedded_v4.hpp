#pragma once

#include <boost/asio/ip/address.hpp>
#include <vector>

namespace base {

/// The IPv4 addresses to which an IPv6 address may lead, because a translator or tunnel on the way
/// reads them out of it: mapped, compatible and translated ones (RFC 4291 §2.5.5, RFC 2765), NAT64
/// with the well-known prefix and, at each place that RFC 6052 §2.2 has, the local one (RFC 8215),
/// 6to4 (RFC 3056), server and client of Teredo (RFC 4380 §4), and ISATAP (RFC 5214 §6.1). Empty
/// for all others. A judgement of an address has to cover these as well. Any thread.
std::vector<boost::asio::ip::address_v4> embedded_v4(const boost::asio::ip::address& address);

}  // namespace base
