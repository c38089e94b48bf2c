#include "proxy/http/cache_status.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/structured_field.hpp"

namespace proxy {

namespace {

using namespace std::string_view_literals;  // appended without counting

/// sf-token of RFC 8941 §3.3.4: begins with a letter or `*`, and also allows `:` and `/`.
bool is_sf_token(std::string_view text) {
    if (text.empty()) return false;
    const char first = text.front();
    const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    if (!letter && first != '*') return false;
    for (const char c : text) {
        if (c != ':' && c != '/' && !is_token({&c, 1})) return false;
    }
    return true;
}

void append_token_or_string(base::ShortText& out, std::string_view text) {
    if (is_sf_token(text)) {
        out.append(text);
        return;
    }
    out.append("\""sv);
    for (const char c : text) {
        if (c == '"' || c == '\\') out.append("\\"sv);
        const auto shown = c >= 0x20 && c < 0x7f ? c : '?';
        out.append({&shown, 1});
    }
    out.append("\""sv);
}

}  // namespace

std::string_view to_string(Forward forward) {
    switch (forward) {
        case Forward::none:
            return "none";
        case Forward::nowhere:
            return "nowhere";
        case Forward::bypass:
            return "bypass";
        case Forward::method:
            return "method";
        case Forward::uri_miss:
            return "uri-miss";
        case Forward::vary_miss:
            return "vary-miss";
        case Forward::miss:
            return "miss";
        case Forward::request:
            return "request";
        case Forward::stale:
            return "stale";
        case Forward::partial:
            return "partial";
    }
    return "?";
}

void append_cache_status(base::ShortText& out, std::string_view node, const CacheStatus& status) {
    append_token_or_string(out, node);
    if (status.forward == Forward::none) {
        out.append("; hit"sv);
    } else if (status.forward != Forward::nowhere) {
        out.append("; fwd="sv).append(to_string(status.forward));
    }
    if (status.forward_status != 0) out.append("; fwd-status="sv).append(status.forward_status);
    if (status.stored) out.append("; stored"sv);
    if (status.collapsed) out.append("; collapsed"sv);
    if (status.ttl) out.append("; ttl="sv).append(status.ttl->count());
    if (!status.detail.empty()) append_token_or_string(out.append("; detail="sv), status.detail);
}

Refusal refusal_of(Fields response) {
    const auto members = sf_list(response, "Cache-Status");
    if (!members || members->empty()) return Refusal::unknown;
    SfParameters parameters(members->back());
    auto refused = Refusal::unknown;
    while (const auto parameter = parameters.next()) {
        if (parameter->key != "detail") continue;
        refused = Refusal::unknown;  // of several, the last counts
        for (const auto refusal : {Refusal::absent, Refusal::variant, Refusal::stale, Refusal::busy,
                                   Refusal::draining}) {
            if (parameter->value.text == to_string(refusal)) refused = refusal;
        }
    }
    return refused;
}

}  // namespace proxy
