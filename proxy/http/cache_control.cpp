#include "proxy/http/cache_control.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/structured_field.hpp"

#include <algorithm>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

/// name [ "=" argument ]. White space around "=" violates the grammar: the name counts, so a
/// restriction stays in force, and the argument is malformed.
struct Directive {
    std::string_view name;
    std::string_view argument;  // a quoted string without its quotes
    bool has_argument = false;
    bool malformed = false;
};

Directive split(std::string_view member) {
    const auto equals = member.find('=');
    if (equals == std::string_view::npos) return {member, {}, false, false};
    Directive directive{trim(member.substr(0, equals)), member.substr(equals + 1), true, false};
    directive.malformed =
        directive.name.size() != equals || trim(directive.argument) != directive.argument;
    auto& argument = directive.argument;
    if (argument.starts_with('"')) {
        if (argument.size() < 2 || !argument.ends_with('"')) directive.malformed = true;
        argument.remove_prefix(1);
        if (argument.ends_with('"')) argument.remove_suffix(1);
    }
    return directive;
}

/// Calls `visit` with each directive of a list member: several where a server writes `;` for a
/// comma, as in `private; max-age=60`, which other caches read so, too. What follows a quote is not
/// divided.
template <class Visit>
void each_directive(std::string_view member, const Visit& visit) {
    if (member.find(';') == std::string_view::npos) return visit(split(member));
    for (;;) {
        const auto at = member.find_first_of(";\"");
        const auto divides = at != std::string_view::npos && member[at] == ';';
        const auto text = trim(divides ? member.substr(0, at) : member);
        if (!text.empty()) visit(split(text));
        if (!divides) return;
        member.remove_prefix(at + 1);
    }
}

void set_first(DeltaDirective& slot, const Directive& directive) {
    if (slot.present()) return;
    const auto value = directive.malformed ? std::nullopt : parse_delta_seconds(directive.argument);
    slot.state = value ? DeltaDirective::State::given : DeltaDirective::State::malformed;
    slot.value = value.value_or(std::chrono::seconds(0));
}

bool is_name_list(std::string_view text) {
    ListMembers names(text);
    std::size_t count = 0;
    while (names.next()) ++count;
    return count > 0 && count <= kMaxQualifiedNames;
}

/// no-cache and private: a usable list of names limits them to these fields. Both forms together
/// mean the stricter one, and so do two lists, because each lacks names of the other.
void set_qualified(bool& whole, std::string_view& fields, const Directive& directive) {
    if (!directive.malformed && is_name_list(directive.argument) && fields.empty()) {
        fields = directive.argument;
    } else {
        whole = true;
    }
}

std::optional<std::chrono::seconds> delta_argument(const Directive& directive) {
    return directive.malformed ? std::nullopt : parse_delta_seconds(directive.argument);
}

void set_first(std::optional<std::chrono::seconds>& slot, const Directive& directive) {
    if (!slot) slot = delta_argument(directive);
}

void apply(RequestDirectives& out, const Directive& directive) {
    const auto is = [&](std::string_view name) { return iequals(directive.name, name); };
    if (is("no-cache")) {
        out.no_cache = true;
    } else if (is("no-store")) {
        out.no_store = true;
    } else if (is("only-if-cached")) {
        out.only_if_cached = true;
    } else if (is("max-age")) {
        set_first(out.max_age, directive);
    } else if (is("min-fresh")) {
        set_first(out.min_fresh, directive);
    } else if (is("max-stale")) {
        if (!directive.has_argument) {
            if (!out.max_stale) out.max_stale = kMaxDelta;
        } else {
            set_first(out.max_stale, directive);
        }
    }
}

// The directives of CDN-Cache-Control. Each function returns whether the type is right (RFC 9213
// §2.1). An absent directive counts as right.

bool take_flag(const SfMembers& members, std::string_view name, bool& out) {
    const auto* member = find(members, name);
    if (!member) return true;
    out = member->value.number != 0;
    return member->value.type == SfType::boolean;
}

bool take_delta(const SfMembers& members, std::string_view name, DeltaDirective& out) {
    const auto* member = find(members, name);
    if (!member) return true;
    const auto number = member->value.number;
    out.state = number < 0 ? DeltaDirective::State::malformed : DeltaDirective::State::given;
    out.value = std::clamp(std::chrono::seconds(number), std::chrono::seconds(0), kMaxDelta);
    return member->value.type == SfType::integer;
}

bool take_qualified(const SfMembers& members, std::string_view name, bool& whole,
                    std::string_view& fields) {
    const auto* member = find(members, name);
    if (!member) return true;
    const auto& value = member->value;
    if (value.type == SfType::boolean) {
        whole = value.number != 0;
    } else if (is_name_list(value.text)) {
        fields = value.text;
    } else {
        whole = true;
    }
    return value.type == SfType::boolean || value.type == SfType::string ||
           value.type == SfType::token;
}

std::optional<ResponseDirectives> targeted_directives(Fields response) {
    const auto members = sf_dictionary(response, "CDN-Cache-Control");
    if (!members || members->empty()) return std::nullopt;
    ResponseDirectives out;
    out.targeted = true;
    const bool right = take_delta(*members, "max-age", out.max_age) &&
                       take_delta(*members, "s-maxage", out.s_maxage) &&
                       take_flag(*members, "no-store", out.no_store) &&
                       take_qualified(*members, "no-cache", out.no_cache, out.no_cache_fields) &&
                       take_qualified(*members, "private", out.is_private, out.private_fields) &&
                       take_flag(*members, "public", out.is_public) &&
                       take_flag(*members, "must-revalidate", out.must_revalidate) &&
                       take_flag(*members, "proxy-revalidate", out.proxy_revalidate) &&
                       take_flag(*members, "must-understand", out.must_understand) &&
                       take_delta(*members, "stale-while-revalidate", out.stale.while_revalidate) &&
                       take_delta(*members, "stale-if-error", out.stale.if_error) &&
                       take_flag(*members, "no-transform", out.no_transform) &&
                       take_flag(*members, "immutable", out.immutable);
    return right ? std::optional(out) : std::nullopt;
}

void apply(ResponseDirectives& out, const Directive& directive) {
    const auto is = [&](std::string_view name) { return iequals(directive.name, name); };
    if (is("max-age")) {
        set_first(out.max_age, directive);
    } else if (is("s-maxage")) {
        set_first(out.s_maxage, directive);
    } else if (is("no-store")) {
        out.no_store = true;
    } else if (is("no-cache")) {
        set_qualified(out.no_cache, out.no_cache_fields, directive);
    } else if (is("private")) {
        set_qualified(out.is_private, out.private_fields, directive);
    } else if (is("public")) {
        out.is_public = true;
    } else if (is("must-revalidate")) {
        out.must_revalidate = true;
    } else if (is("proxy-revalidate")) {
        out.proxy_revalidate = true;
    } else if (is("must-understand")) {
        out.must_understand = true;
    } else if (is("stale-while-revalidate")) {
        set_first(out.stale.while_revalidate, directive);
    } else if (is("stale-if-error")) {
        set_first(out.stale.if_error, directive);
    } else if (is("no-transform")) {
        out.no_transform = true;
    } else if (is("immutable")) {
        out.immutable = true;
    }
}

ResponseDirectives stated_directives(Fields response, const CacheRules& rules) {
    if (rules.cdn_cache_control) {
        if (const auto targeted = targeted_directives(response)) return *targeted;
    }
    ResponseDirectives out;
    FieldMembers members(response, http_field::cache_control);
    while (const auto member = members.next())
        each_directive(*member, [&](const Directive& directive) { apply(out, directive); });
    return out;
}

void leave_out(ResponseDirectives& out, const IgnoredDirectives& ignored) {
    if (ignored.no_store) out.no_store = false;
    if (ignored.is_private) out.is_private = false;
    if (ignored.no_cache) out.no_cache = false;
}

}  // namespace

bool CacheRules::keeps_cookies() const {
    return store_set_cookie && !(rule && rule->ignored.set_cookie);
}

std::optional<std::chrono::seconds> parse_delta_seconds(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = std::min<std::int64_t>(value * 10 + (c - '0'), kMaxDelta.count());
    }
    return std::chrono::seconds(value);
}

ResponseDirectives response_directives(Fields response, const CacheRules& rules) {
    auto out = stated_directives(response, rules);
    if (rules.rule) leave_out(out, rules.rule->ignored);
    return out;
}

RequestDirectives request_directives(Fields request, ClientDirectives setting) {
    RequestDirectives out;
    bool cache_control = false, pragma_no_cache = false;
    for (const auto& field : request) {
        if (field.id == http_field::cache_control) {
            cache_control = true;
            ListMembers members(field.value);
            while (const auto member = members.next())
                each_directive(*member, [&](const Directive& directive) { apply(out, directive); });
        } else if (field.id == http_field::pragma) {
            ListMembers members(field.value);
            while (const auto member = members.next()) {
                pragma_no_cache = pragma_no_cache || iequals(*member, "no-cache");
            }
        }
    }
    if (!cache_control) out.no_cache = pragma_no_cache;
    if (setting == ClientDirectives::shield) {
        out.no_cache = false;
        out.max_age.reset();
        out.min_fresh.reset();
        out.max_stale.reset();
    }
    return out;
}

}  // namespace proxy
