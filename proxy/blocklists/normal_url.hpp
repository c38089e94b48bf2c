#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

// One spelling for all spellings of a host or path that reach the same resource. Lists and requests
// are compared in it, so that no spelling evades a list. A request itself goes out as it came.

inline constexpr std::size_t kMaxNameBytes = 253;  // RFC 1035 §2.3.4, without the last dot
/// The most boundaries of a path that an entry may have; see is_path_boundary().
inline constexpr std::size_t kMaxPathBoundaries = 64;

/// A host in one spelling.
struct NormalHost {
    std::string_view text;    // in the buffer of the caller, or in the host itself
    bool is_address = false;  // IPv4, or IPv6 without brackets; it has no parent domains
};

/// Returns the normal form of a host as a URI has it: percent-encoding is decoded (RFC 3986
/// §6.2.2.2), letters are lower case, the dot at the end is gone, labels beyond ASCII have the form
/// of IDNA, and an address has its canonical text (RFC 5952), that of IPv4 if it is mapped. So has
/// a number that a resolver takes for an IPv4 address, such as `127.1` or `0x7f000001`.
/// `buffer` is used if the host differs from it. Never fails: bytes that no name has stay there and
/// match nothing.
NormalHost normal_host(std::string_view host, std::string& buffer);

/// The texts of the IPv4 addresses inside a normal host that is an IPv6 address
/// (base/net/embedded_v4.hpp).
std::vector<std::string> embedded_hosts(const NormalHost& host);

/// Whether a normal host can be a name in a list: labels of letters, digits, `-` and `_`, of 1 to
/// 63 bytes, at most kMaxNameBytes in all.
bool is_name(std::string_view host);

/// The number of labels of a host that is in normal form and a name; 0 for every other, which needs
/// normal_host(). Most lines of lists are such names.
unsigned labels_of_plain_name(std::string_view host);

/// Appends the normal form of a path with its query, as e2guardian compares it: percent-encoding is
/// decoded once, letters of ASCII are lower case, dot segments are removed (RFC 3986 §6.2.2.3),
/// slashes in a row are one, and the fragment and a slash at the end are gone. Empty for the root.
void append_normal_path(std::string& out, std::string_view path);

/// Whether an entry that ends before `next` covers what goes on with it (e2guardian: a prefix
/// counts before `/`, `?`, `&` and `=`).
constexpr bool is_path_boundary(char next) {
    return next == '/' || next == '?' || next == '&' || next == '=';
}

}  // namespace proxy
