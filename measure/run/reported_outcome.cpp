#include "measure/run/reported_outcome.hpp"

#include <optional>

#include "proxy/http/cache_status.hpp"
#include "proxy/http/field_list.hpp"

namespace measure {
namespace {

/// One member of Cache-Status, as far as the replay needs it.
struct CacheStatusMember {
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

CacheStatusMember parse_member(std::string_view text) {
    CacheStatusMember member;
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

ReportedOutcome outcome_of(const CacheStatusMember& member) {
    constexpr std::string_view kPeer = "PEER_";
    if (member.hit) return ReportedOutcome::local_hit;
    if (member.collapsed) return ReportedOutcome::local_hit;
    if (member.detail.substr(0, kPeer.size()) == kPeer) return ReportedOutcome::peer_hit;
    if (member.detail == proxy::kMostlyLocal) return ReportedOutcome::local_hit;
    if (member.forward == "stale" && member.forward_status == "304")
        return ReportedOutcome::local_hit;
    if (member.forward == "bypass" || member.forward == "method")
        return ReportedOutcome::uncacheable;
    return member.forward.empty() ? ReportedOutcome::unknown : ReportedOutcome::origin_fetch;
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

ReportedOutcome reported_outcome(proxy::Fields response) {
    if (const auto last = last_member(response)) return outcome_of(parse_member(*last));
    std::string_view x_cache;
    for (const auto& line : response) {
        if (proxy::iequals(line.name, "X-Cache")) x_cache = line.value;
    }
    const auto hit = x_cache.rfind("HIT"), miss = x_cache.rfind("MISS");
    if (hit == miss) return ReportedOutcome::unknown;
    const bool hit_is_last =
        miss == std::string_view::npos || (hit != std::string_view::npos && hit > miss);
    return hit_is_last ? ReportedOutcome::local_hit : ReportedOutcome::origin_fetch;
}

bool is_from_proxy_itself(proxy::Fields response) {
    const auto last = last_member(response);
    if (!last) return false;
    const auto member = parse_member(*last);
    return !member.hit && !member.collapsed && member.forward.empty();
}

std::string_view reported_detail(proxy::Fields response) {
    const auto last = last_member(response);
    return last ? parse_member(*last).detail : std::string_view();
}

std::string_view reporting_node(proxy::Fields response) {
    auto last = last_member(response);
    if (!last) return {};
    auto name = next_parameter(*last);
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    return name;
}

}  // namespace measure
