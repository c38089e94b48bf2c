#include "measure/run/answer_kind.hpp"

#include <optional>

#include "proxy/http/cache_status.hpp"
#include "proxy/http/field_list.hpp"

namespace measure {
namespace {

/// One member of Cache-Status, as far as the replay needs it.
struct Member {
    bool hit = false, collapsed = false;
    std::string_view forward, forward_status, detail;
};

/// Cuts the next part off `rest`, up to a ';' outside a quoted string.
std::string_view next_parameter(std::string_view& rest) {
    bool quoted = false;
    std::size_t i = 0;
    for (; i < rest.size(); ++i) {
        if (quoted && rest[i] == '\\') {
            ++i;
        } else if (rest[i] == '"') {
            quoted = !quoted;
        } else if (rest[i] == ';' && !quoted) {
            break;
        }
    }
    const auto parameter = proxy::trim(rest.substr(0, i));
    rest.remove_prefix(i < rest.size() ? i + 1 : rest.size());
    return parameter;
}

Member parse_member(std::string_view text) {
    Member member;
    next_parameter(text);  // the name of the cache
    while (!text.empty()) {
        const auto parameter = next_parameter(text);
        const auto equals = parameter.find('=');
        const auto name = parameter.substr(0, equals);
        auto value =
            equals == std::string_view::npos ? std::string_view{} : parameter.substr(equals + 1);
        if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
        if (name == "hit") member.hit = true;
        if (name == "collapsed") member.collapsed = value != "?0";
        if (name == "fwd") member.forward = value;
        if (name == "fwd-status") member.forward_status = value;
        if (name == "detail") member.detail = value;
    }
    return member;
}

AnswerKind kind_of(const Member& member) {
    constexpr std::string_view kPeer = "PEER_";
    if (member.hit) return AnswerKind::local_hit;
    if (member.collapsed) return AnswerKind::local_hit;
    if (member.detail.substr(0, kPeer.size()) == kPeer) return AnswerKind::peer_hit;
    if (member.detail == proxy::kMostlyLocal) return AnswerKind::local_hit;
    if (member.forward == "stale" && member.forward_status == "304") return AnswerKind::local_hit;
    if (member.forward == "bypass" || member.forward == "method") return AnswerKind::uncacheable;
    return member.forward.empty() ? AnswerKind::unknown : AnswerKind::origin_fetch;
}

/// The last member of Cache-Status, over all its lines.
std::optional<std::string_view> last_member(proxy::Fields response) {
    std::optional<std::string_view> last;
    for (const auto& line : response) {
        if (!proxy::iequals(line.name, "Cache-Status")) continue;
        proxy::ListMembers members(line.value);
        while (const auto member = members.next()) last = member;
    }
    return last;
}

}  // namespace

std::string_view to_string(AnswerKind kind) {
    switch (kind) {
        case AnswerKind::local_hit:
            return "local_hit";
        case AnswerKind::peer_hit:
            return "peer_hit";
        case AnswerKind::origin_fetch:
            return "origin_fetch";
        case AnswerKind::uncacheable:
            return "uncacheable";
        case AnswerKind::unknown:
            return "unknown";
    }
    return "?";
}

AnswerKind answer_kind(proxy::Fields response) {
    if (const auto last = last_member(response)) return kind_of(parse_member(*last));
    std::string_view x_cache;
    for (const auto& line : response) {
        if (proxy::iequals(line.name, "X-Cache")) x_cache = line.value;
    }
    const auto hit = x_cache.rfind("HIT"), miss = x_cache.rfind("MISS");
    if (hit == miss) return AnswerKind::unknown;
    const bool hit_is_last =
        miss == std::string_view::npos || (hit != std::string_view::npos && hit > miss);
    return hit_is_last ? AnswerKind::local_hit : AnswerKind::origin_fetch;
}

bool is_proxys_own(proxy::Fields response) {
    const auto last = last_member(response);
    if (!last) return false;
    const auto member = parse_member(*last);
    return !member.hit && !member.collapsed && member.forward.empty();
}

std::string_view answer_detail(proxy::Fields response) {
    const auto last = last_member(response);
    return last ? parse_member(*last).detail : std::string_view();
}

std::string_view answering_node(proxy::Fields response) {
    auto last = last_member(response);
    if (!last) return {};
    auto name = next_parameter(*last);
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    return name;
}

}  // namespace measure
