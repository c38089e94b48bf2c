#include "proxy/tls/name_constraints.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

std::vector<std::string> dns_bases(const STACK_OF(GENERAL_SUBTREE) * trees) {
    std::vector<std::string> bases;
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(trees); ++i) {
        const auto* const base = sk_GENERAL_SUBTREE_value(trees, i)->base;
        if (base->type != GEN_DNS) continue;
        const auto* const text = ASN1_STRING_get0_data(base->d.dNSName);
        const auto size = static_cast<std::size_t>(ASN1_STRING_length(base->d.dNSName));
        append_lower(bases.emplace_back(), {reinterpret_cast<const char*>(text), size});
    }
    return bases;
}

/// `name` is `base` or below it.
bool is_in_tree(std::string_view name, std::string_view base) {
    if (base.empty()) return true;
    if (base.starts_with('.')) return name.size() > base.size() && name.ends_with(base);
    if (!name.ends_with(base)) return false;
    return name.size() == base.size() || name[name.size() - base.size() - 1] == '.';
}

/// The hosts of a pattern: the host itself, or all that end in whole labels behind its last `*`.
struct Hosts {
    std::string_view tail;  // with its dot; empty: any host
    bool is_one = false;    // and `tail` is it
};

Hosts hosts_of(std::string_view pattern) {
    const auto star = pattern.rfind('*');
    if (star == std::string_view::npos) return {pattern, true};
    const auto rest = pattern.substr(star + 1);
    const auto dot = rest.find('.');
    return {dot == std::string_view::npos ? std::string_view() : rest.substr(dot), false};
}

/// All of `hosts` are in the tree.
bool holds_all(std::string_view base, const Hosts& hosts) {
    if (base.empty() || hosts.is_one) return is_in_tree(hosts.tail, base);
    if (hosts.tail.empty()) return false;
    if (base.starts_with('.')) return hosts.tail.ends_with(base);
    return is_in_tree(hosts.tail.substr(1), base);
}

/// Some of `hosts` may be in the tree.
bool may_hold(std::string_view base, const Hosts& hosts) {
    if (hosts.is_one) return is_in_tree(hosts.tail, base);
    if (hosts.tail.empty() || holds_all(base, hosts)) return true;
    return is_in_tree(base.starts_with('.') ? base.substr(1) : base, hosts.tail.substr(1));
}

}  // namespace

DnsConstraints dns_constraints(X509* certificate) {
    DnsConstraints read;
    const std::unique_ptr<NAME_CONSTRAINTS, decltype(&NAME_CONSTRAINTS_free)> found(
        static_cast<NAME_CONSTRAINTS*>(
            X509_get_ext_d2i(certificate, NID_name_constraints, nullptr, nullptr)),
        NAME_CONSTRAINTS_free);
    if (!found) return read;
    auto permitted = dns_bases(found->permittedSubtrees);
    if (!permitted.empty()) read.permitted = std::move(permitted);
    read.excluded = dns_bases(found->excludedSubtrees);
    return read;
}

bool covers(const DnsConstraints& constraints, std::string_view pattern) {
    std::string lower;
    append_lower(lower, pattern);
    if (lower.ends_with('.')) lower.pop_back();
    const auto hosts = hosts_of(lower);
    const auto is_met = [&](const std::string& base) { return may_hold(base, hosts); };
    if (std::ranges::any_of(constraints.excluded, is_met)) return false;
    if (!constraints.permitted) return true;
    return std::ranges::any_of(*constraints.permitted,
                               [&](const std::string& base) { return holds_all(base, hosts); });
}

}  // namespace proxy
