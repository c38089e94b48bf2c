#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// A CA that is to be made.
struct AuthorityOrder {
    std::vector<std::string> hosts{};  // permitted_names() of them go into the constraints
    std::string name{};                // common name
    std::chrono::days days{};          // of its life, from now
};
inline constexpr std::size_t kMaxCommonName = 64;  // characters; RFC 5280, appendix A.1

/// The bases of name constraints for `hosts`: lower case, each once, without `*.` and a leading
/// dot, as TLS libraries disagree about that dot. So each base permits itself and all below it.
/// Throws std::invalid_argument for a text that is no host name, or `*` within one.
std::vector<std::string> permitted_names(const std::vector<std::string>& hosts);

/// A certificate and its key, as PEM.
struct NewAuthority {
    std::string certificate, key;
    std::vector<std::string> permitted;
    std::chrono::sys_seconds not_after{};
};

/// Makes a root CA with a new P-256 key that may sign server certificates for `order.hosts` alone:
/// critical name constraints permit these, and exclude all addresses. It is valid from a day ago.
/// Throws std::invalid_argument as permitted_names() does, and std::runtime_error if OpenSSL fails.
NewAuthority make_authority(const AuthorityOrder& order, std::chrono::sys_seconds now);

}  // namespace proxy
