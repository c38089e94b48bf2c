#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// The properties of a certificate that decide whether a client gets it.
struct CertificateIdentity {
    std::vector<std::string> names;  // lower case, from subjectAltName: `a.example`, `*.a.example`
    std::string key_type;            // OpenSSL's word, such as `RSA` or `EC`
};

/// The choice of server certificates by the name that a client asks for (SNI). Certificates with
/// the name itself come before those with a wildcard for its first label (RFC 9525 §6.3). Of each
/// type of key the first such certificate is offered, so OpenSSL can pick one that the client
/// supports. Immutable; any thread.
class CertificateChoice {
public:
    /// Certificates that are offered together, by their index; at most one of each type of key.
    using Group = std::vector<std::size_t>;

    /// `all`: at least one. The first is the default.
    explicit CertificateChoice(std::span<const CertificateIdentity> all);

    /// The groups. The first is for clients without a name, or with an unknown one: the first
    /// certificate, and those of other types of key that have all of its names.
    const std::vector<Group>& groups() const { return groups_; }

    /// The index of the group for a name in lower case. Returns nothing for an unknown name.
    std::optional<std::size_t> find(std::string_view name) const;

    /// Certificates in no group, by their index: others before them have all of their names.
    std::vector<std::size_t> unused() const;

private:
    std::size_t number_of(Group group);

    std::size_t certificates_ = 0;
    std::vector<Group> groups_;
    std::map<std::string, std::size_t, std::less<>> by_name_;  // wildcards with their `*`
};

}  // namespace proxy
