#include "proxy/http/hop_by_hop.hpp"

#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

/// The beginning sorts out nearly every name.
bool is_between_nodes(std::string_view name) {
    constexpr std::string_view kBeginning = "Hearsay-";
    constexpr std::array kNames{kPeerField,      kFieldsField, kFormField,   kServerField,
                                kFirstSeenField, kMeetField,   kFetcherField};
    return iequals(name.substr(0, kBeginning.size()), kBeginning) &&
           std::ranges::any_of(kNames, [&](std::string_view own) { return iequals(name, own); });
}

bool always_stops(const Field& field) {
    switch (field.id) {
        case http_field::connection:
        case http_field::keep_alive:
        case http_field::proxy_connection:
        case http_field::te:
        case http_field::trailer:
        case http_field::transfer_encoding:
        case http_field::upgrade:
        case http_field::proxy_authenticate:
        case http_field::proxy_authentication_info:
        case http_field::proxy_authorization:
            return true;
        case http_field::unknown:
            return is_between_nodes(field.name) || iequals(field.name, "HTTP2-Settings");
        default:
            return false;
    }
}

}  // namespace

bool NameSet::add(std::string_view name) {
    if (contains(name)) return true;
    if (names_.size() == kMaxNamedFields) return false;
    names_.push_back(name);
    return true;
}

bool NameSet::contains(std::string_view name) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](std::string_view member) { return iequals(member, name); });
}

HopByHop::HopByHop(Fields head) {
    FieldMembers options(head, http_field::connection);
    while (const auto option = options.next()) {
        if (iequals(*option, "close")) continue;
        if (iequals(*option, "keep-alive")) {
            keep_alive_ = true;
        } else if (!named_.add(*option)) {
            too_many_ = true;
        }
    }
}

bool HopByHop::operator()(const Field& field) const {
    if (always_stops(field)) return true;
    if (named_.empty() || !named_.contains(field.name)) return false;
    return field.id != http_field::content_length && field.id != http_field::host;
}

static_assert(2 * kMaxQualifiedNames <= kMaxNamedFields);  // one NameSet takes both lists

bool is_set_cookie(const Field& field) {
    return field.id == http_field::set_cookie || field.id == http_field::set_cookie2;
}

StoredFields::StoredFields(Fields response, const CacheRules& rules)
    : StoredFields(response, rules, response_directives(response, rules).withheld()) {}

StoredFields::StoredFields(Fields response, const CacheRules& rules,
                           std::span<const std::string_view> withheld)
    : hop_by_hop_(response), cookies_too_(rules.keeps_cookies()) {
    for (const auto list : withheld) {
        ListMembers names(list);
        while (const auto name = names.next()) withheld_.add(*name);
    }
}

bool StoredFields::operator()(const Field& field) const {
    return !hop_by_hop_(field) && takes_end_to_end(field);
}

bool StoredFields::takes_end_to_end(const Field& field) const {
    if (field.id == http_field::age) return false;
    if (!cookies_too_ && is_set_cookie(field)) return false;
    return withheld_.empty() || !withheld_.contains(field.name);
}

}  // namespace proxy
