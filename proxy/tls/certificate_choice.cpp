#include "proxy/tls/certificate_choice.hpp"

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

bool has_all_names_of(const CertificateIdentity& one, const CertificateIdentity& other) {
    return !other.names.empty() &&
           std::all_of(other.names.begin(), other.names.end(), [&](const std::string& name) {
               return std::find(one.names.begin(), one.names.end(), name) != one.names.end();
           });
}

/// Adds a certificate, unless the group has one of its type of key.
void add_by_type(CertificateChoice::Group& group, std::span<const CertificateIdentity> all,
                 std::size_t index) {
    const auto has_type = std::any_of(group.begin(), group.end(), [&](std::size_t other) {
        return all[other].key_type == all[index].key_type;
    });
    if (!has_type) group.push_back(index);
}

}  // namespace

CertificateChoice::CertificateChoice(std::span<const CertificateIdentity> all)
    : certificates_(all.size()) {
    Group fallback{0};
    for (std::size_t i = 1; i < all.size(); ++i)
        if (has_all_names_of(all[i], all[0])) add_by_type(fallback, all, i);
    groups_.push_back(std::move(fallback));

    std::map<std::string, Group> named;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto& name : all[i].names) add_by_type(named[name], all, i);
    for (auto& [name, group] : named) by_name_.emplace(name, number_of(std::move(group)));
}

std::size_t CertificateChoice::number_of(Group group) {
    const auto known = std::find(groups_.begin(), groups_.end(), group);
    const auto number = static_cast<std::size_t>(known - groups_.begin());
    if (known == groups_.end()) groups_.push_back(std::move(group));
    return number;
}

std::optional<std::size_t> CertificateChoice::find(std::string_view name) const {
    if (name.empty() || name.front() == '*') return std::nullopt;
    if (const auto exact = by_name_.find(name); exact != by_name_.end()) return exact->second;
    const auto dot = name.find('.');
    if (dot == name.npos || dot == 0) return std::nullopt;
    const auto wildcard = by_name_.find("*" + std::string(name.substr(dot)));
    if (wildcard == by_name_.end()) return std::nullopt;
    return wildcard->second;
}

std::vector<std::size_t> CertificateChoice::unused() const {
    std::vector<bool> used(certificates_);
    for (const auto& group : groups_)
        for (const auto index : group) used[index] = true;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < certificates_; ++i)
        if (!used[i]) found.push_back(i);
    return found;
}

}  // namespace proxy
