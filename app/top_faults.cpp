#include "app/top_faults.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "measure/report/numbers.hpp"
#include "measure/trace/printable.hpp"

namespace app {
namespace {

using FaultJson = nlohmann::json;

constexpr std::uint64_t kFewAnswers = 20, kFailingShare = 10;  // as proxy::is_failing()
constexpr double kErrorShownSeconds = 3600;                    // as proxy::had_error_lately()

const FaultJson& child(const FaultJson& from, const char* name) {
    static const FaultJson kNull;
    const auto at = from.find(name);  // end() for anything but an object
    return at == from.end() ? kNull : *at;
}

std::string word(const FaultJson& from, const char* name) {
    const auto& value = child(from, name);
    return value.is_string() ? measure::printable(value.get<std::string>()) : std::string();
}

std::uint64_t whole(const FaultJson& from, const char* name) {
    const auto& value = child(from, name);
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

double real(const FaultJson& from, const char* name) {
    const auto& value = child(from, name);
    return value.is_number() ? value.get<double>() : 0;
}

void note_reasons(const FaultJson& status, TopData& into) {
    for (const auto& peer : child(child(status, "cluster"), "peers")) {
        const auto name = word(peer, "node"), reason = word(peer, "last_error");
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

std::string disk_fault(const FaultJson& status) {
    for (const auto& disk : child(child(status, "cache"), "disk")) {
        const auto state = word(disk, "state"), error = word(disk, "last_error");
        const auto is_recent =
            !error.empty() && real(disk, "last_error_seconds") < kErrorShownSeconds;
        if (state == "paused" || state == "off" || is_recent)
            return fmt::format("disk {}: {}{}{}", word(disk, "path"),
                               state == "ready" ? "errors lately" : state,
                               error.empty() ? "" : ", ", error);
    }
    return {};
}

std::string origin_fault(const FaultJson& status) {
    const auto& upstream = child(status, "upstream");
    if (const auto down = whole(upstream, "origins_down"); down > 0)
        return fmt::format("{} without an answer", measure::amount(down, "origin"));
    for (const auto& site : child(upstream, "answers")) {
        const auto& recent = child(site, "last_5m");
        const auto all = whole(recent, "answers");
        const auto errors = whole(recent, "server_errors"),
                   refusals = whole(recent, "too_many_requests");
        if (all < kFewAnswers || (errors + refusals) * kFailingShare <= all) continue;
        return fmt::format(
            "{:.0f} % of the answers of the origin of {} were {} in the last five "
            "minutes",
            measure::percent(errors + refusals, all), word(site, "site"),
            refusals == 0 ? "5xx"
            : errors == 0 ? "429"
                          : "5xx or 429");
    }
    return {};
}

/// A fault that another node reports about itself.
std::string reported_fault(const TopData& data) {
    for (const auto& node : data.nodes) {
        if (node.self || node.state == "down" || node.state == "silent") continue;
        if (node.disks_faulty > 0) return fmt::format("{}: a disk is off or has errors", node.node);
        if (node.origins_at_fault > 0)
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
    if (const auto refused = word(child(status, "config"), "last_error"); !refused.empty())
        into.fault = "the last reload was refused: " + refused;
    for (auto fault :
         {reported_fault(into), origin_fault(status), disk_fault(status), node_fault(into)})
        if (!fault.empty()) into.fault = std::move(fault);
}

}  // namespace app
