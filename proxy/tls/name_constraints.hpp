#pragma once

#include <openssl/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// The DNS names for which a CA may sign, as its name constraints say (RFC 5280 §4.2.1.10). A base
/// permits or excludes itself and all names below it, one with a leading dot only those below it,
/// and an empty one all names.
struct DnsConstraints {
    std::optional<std::vector<std::string>> permitted{};  // lower case; absent: all names
    std::vector<std::string> excluded{};
};

/// Reads the extension of a certificate. Without one, or with one that says nothing about DNS
/// names, all are permitted.
DnsConstraints dns_constraints(X509* certificate);

/// Every host that `pattern` matches may have a certificate. `pattern`: a host, in which `*` stands
/// for any text, as DestinationPattern has it. A pattern that matches a part of an excluded tree is
/// not covered.
bool covers(const DnsConstraints& constraints, std::string_view pattern);

}  // namespace proxy
