#include "proxy/http/tags.hpp"

#include <algorithm>
#include <string>

#include "proxy/http/field_list.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/structured_field.hpp"

namespace proxy {
namespace {

using Tags = std::vector<summary::KeyHash>;

/// Appends the hashes of a field's groups; a malformed field has none (RFC 9651 §4.2).
void append_groups(Tags& out, Fields response, std::string_view field, std::string_view origin,
                   const summary::KeyHasher& hasher) {
    const auto groups = sf_list(response, field);
    if (!groups) return;
    std::string text;
    for (const auto& group : *groups) {
        if (out.size() > kMaxTags) return;
        if (group.value.type != SfType::string) continue;
        text.assign("cache-group ").append(origin).append(" ");
        for (auto at = group.value.text.begin(); at != group.value.text.end(); ++at) {
            if (*at == '\\') ++at;  // the parser has checked that a byte follows
            text.push_back(*at);
        }
        out.push_back(hasher(text));
    }
}

void append_surrogate_keys(Tags& out, Fields response, const summary::KeyHasher& hasher) {
    constexpr std::string_view kBlanks = " \t";
    for (const auto& line : response) {
        if (!iequals(line.name, "Surrogate-Key")) continue;
        auto rest = line.value;
        while (out.size() <= kMaxTags) {
            rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
            if (rest.empty()) break;
            const auto tag = rest.substr(0, rest.find_first_of(kBlanks));
            out.push_back(surrogate_tag(tag, hasher));
            rest.remove_prefix(tag.size());
        }
    }
}

void sort(Tags& tags) {
    std::sort(tags.begin(), tags.end(), precedes);
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
}

}  // namespace

bool precedes(const summary::KeyHash& a, const summary::KeyHash& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
}

summary::KeyHash surrogate_tag(std::string_view tag, const summary::KeyHasher& hasher) {
    return hasher(std::string("surrogate-key ").append(tag));
}

std::vector<std::string_view> prefixes_of(std::string_view uri) {
    constexpr std::string_view kBehindScheme = "://";
    std::vector<std::string_view> prefixes;
    auto at = uri.find(kBehindScheme);
    if (at == std::string_view::npos) return prefixes;
    const auto path = uri.substr(0, uri.find_first_of("? "));  // a block's key has a space
    for (at = path.find('/', at + kBehindScheme.size());
         at != std::string_view::npos && prefixes.size() < kMaxUriPrefixes;
         at = path.find('/', at + 1))
        prefixes.push_back(path.substr(0, at + 1));
    return prefixes;
}

std::optional<Tags> tags_of(Fields response, std::string_view origin,
                            const summary::KeyHasher& hasher) {
    Tags tags;
    append_surrogate_keys(tags, response, hasher);
    append_groups(tags, response, "Cache-Groups", origin, hasher);
    if (tags.size() > kMaxTags) return std::nullopt;
    sort(tags);
    return tags;
}

summary::KeyHash rule_tag(std::string_view name, const summary::KeyHasher& hasher) {
    return hasher(std::string("rule ").append(name));
}

bool add_rule_tags(Tags& tags, const Rule& rule, const summary::KeyHasher& hasher) {
    tags.push_back(rule_tag(rule.name, hasher));
    for (const auto& tag : rule.tags) tags.push_back(surrogate_tag(tag, hasher));
    sort(tags);
    return tags.size() <= kMaxTags;
}

Tags invalidated_groups(Fields response, std::string_view origin,
                        const summary::KeyHasher& hasher) {
    Tags groups;
    append_groups(groups, response, "Cache-Group-Invalidation", origin, hasher);
    if (groups.size() > kMaxTags) groups.resize(kMaxTags);
    return groups;
}

}  // namespace proxy
