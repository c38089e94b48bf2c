#include "proxy/http/vary.hpp"

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

/// Longer lists compare in their spelling.
constexpr std::size_t kMaxSortedMembers = 32;

void append_as_list(std::string& out, std::string_view name, Fields request) {
    bool first = true;
    for (const auto& field : request) {
        if (!iequals(field.name, name)) continue;
        ListMembers list(field.value);
        while (const auto member = list.next()) {
            if (!first) out.push_back(',');
            out.append(*member);
            first = false;
        }
    }
}

void append_lower_without_space(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c != ' ' && c != '\t') append_lower(out, std::string_view(&c, 1));
    }
}

/// Normalises a weight: `;q=0.50` becomes `;q=0.5`, and `;q=1.0`, the default, goes (RFC 9110
/// §12.4.2). Other text stays as it is. The search for the weight starts at `begin`.
void normalize_weight(std::string& member, std::size_t begin) {
    constexpr std::string_view kWeight = ";q=";
    const auto at = member.find(kWeight, begin);
    if (at == std::string::npos) return;
    const auto value = std::string_view(member).substr(at + kWeight.size());
    if (value.size() < 2 || value.size() > 5 || (value[0] != '0' && value[0] != '1') ||
        value[1] != '.' || value.find_first_not_of("0123456789", 2) != std::string_view::npos) {
        if (value == "1") member.resize(at);
        return;
    }
    while (member.back() == '0') member.pop_back();
    if (member.back() == '.') member.pop_back();
    if (member.ends_with(";q=1")) member.resize(at);
}

/// A list in its order, in lower case and without white space.
void append_in_order(std::string& out, std::string_view name, Fields request) {
    const auto begin = out.size();
    for (const auto& field : request) {
        if (!iequals(field.name, name)) continue;
        ListMembers list(field.value);
        while (const auto member = list.next()) {
            if (out.size() > begin) out.push_back(kThen);
            const auto at = out.size();
            append_lower_without_space(out, *member);
            normalize_weight(out, at);
        }
    }
}

/// A list whose order is irrelevant: sorted, in lower case, without white space.
void append_as_set(std::string& out, std::string_view name, Fields request) {
    std::string text;
    append_as_list(text, name, request);
    std::array<std::string_view, kMaxSortedMembers> members;
    std::size_t count = 0;
    ListMembers list(text);
    while (const auto member = list.next()) {
        if (count == members.size()) return void(out.append(text));
        members[count++] = *member;
    }
    std::string folded;
    folded.reserve(text.size());  // views into it stay valid
    for (auto& member : std::span(members).first(count)) {
        const auto begin = folded.size();
        append_lower_without_space(folded, member);
        normalize_weight(folded, begin);
        member = std::string_view(folded).substr(begin);
    }
    std::sort(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out.push_back(',');
        out.append(members[i]);
    }
}

/// The value of kCredentialNames; none for a request without credentials.
void append_credentials(std::string& out, CredentialFields there) {
    if (there == 0)
        out.push_back(kAbsentValue);
    else
        out.append(std::to_string(there));
}

bool is_set(std::string_view name) {
    return name == "accept" || name == "accept-charset" || name == "accept-encoding";
}

void append_value(std::string& out, std::string_view name, Fields request) {
    const auto is_key = name.starts_with(kKeyFieldMark);
    if (is_key) name.remove_prefix(1);
    if (name == kCredentialNames) {
        append_credentials(out, credential_fields(request));
    } else if (!find(request, name)) {
        out.push_back(kAbsentValue);
    } else if (name == "accept-encoding" || (is_key && is_set(name))) {
        append_as_set(out, name, request);
    } else if (name == "accept-language") {
        append_in_order(out, name, request);
    } else {
        append_as_list(out, name, request);
    }
    out.push_back(kEndOfValue);
}

}  // namespace

std::string vary_names(Fields response) {
    std::vector<std::string> names;
    FieldMembers members(response, http_field::vary);
    while (const auto member = members.next()) {
        if (!is_token(*member) || *member == kVaryAny) return std::string(kVaryAny);
        std::string name;
        append_lower(name, *member);
        if (name == "host") continue;  // part of the key
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        if (names.size() == kMaxVaryNames) return std::string(kVaryAny);
        names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    std::string joined;
    for (const auto& name : names) joined.append(joined.empty() ? "" : ",").append(name);
    return joined;
}

void add_name(std::string& names, std::string_view name) {
    if (!has_name(names, name)) names.append(names.empty() ? "" : ",").append(name);
}

std::string selecting_names(std::string_view vary, std::span<const std::string> keys) {
    if (keys.empty() || vary == kVaryAny) return std::string(vary);
    std::string names;
    for (const auto& key : keys) add_name(names, kKeyFieldMark + key);
    ListMembers list(vary);
    while (const auto name = list.next())
        if (std::ranges::find(keys, *name) == keys.end()) add_name(names, *name);
    return names;
}

void append_variant(std::string& out, std::string_view names, Fields request) {
    ListMembers list(names);
    while (const auto name = list.next()) append_value(out, *name, request);
}

std::string_view value_in_variant(std::string_view variant, std::string_view names,
                                  std::string_view wanted) {
    ListMembers list(names);
    while (const auto name = list.next()) {
        const auto value = variant.substr(0, variant.find(kEndOfValue));
        if (*name == wanted) return value == std::string_view(&kAbsentValue, 1) ? "" : value;
        variant.remove_prefix(std::min(value.size() + 1, variant.size()));
    }
    return {};
}

}  // namespace proxy
