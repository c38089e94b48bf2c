#include "app/top_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "app/clock_words.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/json_members.hpp"
#include "measure/run/status_faults.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/telemetry/leaving_redirects.hpp"
#include "proxy/telemetry/origin_answers.hpp"

namespace app {
namespace {

using measure::count_at;
using measure::member;
using measure::number_at;
using measure::text_at;
using FaultJson = nlohmann::json;

proxy::OriginAnswerCounts answers_at(const FaultJson& from, const char* name) {
    const auto& counts = member(from, name);
    return {count_at(counts, "answers"), count_at(counts, "server_errors"),
            count_at(counts, "too_many_requests")};
}

void note_reasons(const FaultJson& status, TopData& into) {
    for (const auto& peer : member(member(status, "cluster"), "peers")) {
        const auto name = text_at(peer, "node"), reason = text_at(peer, "last_error");
        for (auto& node : into.nodes) {
            if (node.node == name && node.state == "refused") node.reason = reason;
            if (!node.self) continue;
            for (auto& link : node.links)
                if (link.peer == name && link.state != "in_step") link.reason = reason;
        }
    }
}

/// A node that is away, or that refuses.
std::string node_fault(const TopData& data) {
    const TopNode* worst = nullptr;
    std::size_t more = 0;
    for (const auto& node : data.nodes) {
        if (node.state != "down" && node.state != "silent" && node.state != "refused") continue;
        if (worst == nullptr)
            worst = &node;
        else
            ++more;
    }
    if (worst == nullptr) return {};
    auto text = fmt::format("{}: {}", worst->node, worst->state);
    if (!worst->reason.empty()) text += fmt::format(", {}", reason_words(worst->reason));
    if (more > 0) text += fmt::format("; {}", measure::amount(more, "more node"));
    return text;
}

/// A link that does not come up although both nodes are there.
std::string link_fault(const TopData& data) {
    const auto is_absent = [&](const std::string& name) {
        return std::ranges::any_of(data.nodes, [&](const auto& node) {
            return node.node == name && (node.state == "down" || node.state == "silent" ||
                                         node.state == "refused" || node.state == "draining");
        });
    };
    constexpr std::string_view kLasting[] = {"one_way", "no_address", "gone", "refused"};
    for (const auto& node : data.nodes) {
        if (is_absent(node.node)) continue;
        for (const auto& link : node.links) {
            if (std::ranges::find(kLasting, link.state) == std::end(kLasting) ||
                is_absent(link.peer))
                continue;
            auto state = link.state;
            std::ranges::replace(state, '_', ' ');
            return fmt::format("{}: the link with {} is {}{}{}", node.node, link.peer, state,
                               link.reason.empty() ? "" : ", ", reason_words(link.reason));
        }
    }
    return {};
}

std::string clock_fault(const TopData& data, const FaultJson& status) {
    std::vector<PeerClock> clocks;
    for (const auto& peer : member(member(status, "cluster"), "peers"))
        if (const auto ahead = number_at(peer, "clock_ahead_seconds"))
            clocks.push_back({text_at(peer, "node"), *ahead});
    const auto words = clock_words(data.node, clocks);
    return words.empty() ? std::string() : words.front();
}

/// Disks that work again after an error are another matter: `lately`.
std::string disk_fault(const FaultJson& status, bool lately) {
    for (const auto& disk : member(member(status, "cache"), "disk")) {
        const auto state = text_at(disk, "state"), error = text_at(disk, "last_error");
        const auto is_recent = !error.empty() && number_at(disk, "last_error_seconds").value_or(0) <
                                                     proxy::kDiskErrorShownSeconds;
        const auto is_out = state == "stalled" || state == "paused" || state == "off";
        if (lately ? is_recent && !is_out : is_out)
            return fmt::format("disk {}: {}{}{}", text_at(disk, "path"),
                               state == "ready" ? "errors lately" : state,
                               error.empty() ? "" : ", ", error);
    }
    return {};
}

/// The origin left requests without a good answer.
std::string outage(const FaultJson& status) {
    const auto& upstream = member(status, "upstream");
    for (const auto& site : member(upstream, "answers"))
        if (auto fault = text_at(member(site, "fault"), "text"); !fault.empty()) return fault;
    if (const auto down = count_at(upstream, "origins_down"); down > 0)
        return fmt::format("{} without an answer", measure::amount(down, "origin"));
    return {};
}

/// Some of its answers are errors, or lead clients past the cache.
std::string answers_fault(const FaultJson& status) {
    const auto& upstream = member(status, "upstream");
    for (const auto& site : member(upstream, "answers")) {
        const auto recent = answers_at(site, "last_5m");
        if (!proxy::is_failing(recent)) continue;
        const auto* kind = recent.too_many == 0        ? "5xx"
                           : recent.server_errors == 0 ? "429"
                                                       : "5xx or 429";
        return fmt::format(
            "{:.0f} % of the answers of the origin of {} were {} in the last five minutes",
            measure::percent(recent.server_errors + recent.too_many, recent.answers),
            text_at(site, "site"), kind);
    }
    const auto& leaving = member(upstream, "leaving_redirects");
    if (leaving.empty()) return {};
    const auto& most = *leaving.begin();
    return proxy::leaving_text(
        {text_at(most, "site"), text_at(most, "host"), count_at(most, "last_hour")});
}

std::string reload_fault(const FaultJson& status) {
    const auto refused = text_at(member(status, "config"), "last_error");
    return refused.empty() ? refused : "the last reload was refused: " + refused;
}

std::string first_of(const std::vector<std::string>& faults) {
    return faults.empty() ? std::string() : faults.front();
}

/// A fault that another node reports about itself.
std::string reported_fault(const TopData& data) {
    for (const auto& node : data.nodes) {
        if (node.self || node.state == "down" || node.state == "silent") continue;
        if (node.faults.disks > 0) return fmt::format("{}: a disk is off or has errors", node.node);
        if (node.faults.origins > 0)
            return fmt::format("{}: its origins are slow, down or failing", node.node);
    }
    return {};
}

}  // namespace

std::string_view reason_words(std::string_view reason) {
    static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"wrong_key", "keys differ"},
        {"bad_proof", "keys differ"},
        {"other_hash_key", "the last keys differ"},
        {"rules_differ", "rules differ"},
        {"unknown_node", "it does not list this node"},
        {"wrong_node", "another node is there"},
        {"duplicate_id", "two nodes have one name"},
        {"not_encrypted", "one does not encrypt"},
        {"encrypted", "one does not encrypt"},
        {"wrong_version", "versions differ"},
        {"peers_full", "its max_peers is reached"},
        {"connection_refused", "nothing listens there"},
        {"connect_timeout", "no answer"},
        {"resolve_failed", "its name has no address"},
    };
    for (const auto& [name, words] : kWords)
        if (name == reason) return words;
    return reason;
}

void read_top_status(std::string_view json, TopData& into) {
    const auto status = FaultJson::parse(json, nullptr, false);
    if (!status.is_object()) return;
    note_reasons(status, into);
    // What the dashboard calls faults, and then its warnings, each in its order.
    const std::string by_rank[] = {node_fault(into),
                                   link_fault(into),
                                   disk_fault(status, false),
                                   outage(status),
                                   first_of(measure::server_faults(status)),
                                   first_of(measure::blocklist_faults(status)),
                                   reload_fault(status),
                                   first_of(measure::certificate_faults(status)),
                                   reported_fault(into),
                                   clock_fault(into, status),
                                   disk_fault(status, true),
                                   answers_fault(status)};
    const auto worst = std::ranges::find_if_not(by_rank, &std::string::empty);
    if (worst != std::end(by_rank)) into.fault = *worst;
}

}  // namespace app
