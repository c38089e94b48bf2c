#include "measure/study/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using About = StudyTable::About;

constexpr double kLossAllowed = 0.001;  // of the hits, for fewer messages
constexpr double kBytesWorth = 0.9;     // another kind must cost less than this part of ours
constexpr double kHitsWorth = 0.002;    // another copy policy must bring more hits than this
constexpr double kHopsAllowed = 0.3;    // more than the default; each is an answer given twice
constexpr double kWaitAllowed = 1.01;   // and no longer waits than this
constexpr std::chrono::minutes kLongEnough{10};

struct Choice {
    const StudyRow* row;
    std::string title;
};

/// The rows of the first table about this that were run.
std::vector<Choice> run_rows(const Study& study, About about) {
    std::vector<Choice> out;
    const auto* table = study.table(about);
    if (!table) return out;
    for (const auto& line : table->lines)
        if (study.row(line).counts) out.push_back({&study.row(line), line.title});
    return out;
}

const Choice* of_scheme(const std::vector<Choice>& rows, Scheme scheme) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Choice& each) {
        return each.row->config.scheme == scheme;
    });
    return at == rows.end() ? nullptr : &*at;
}

double bytes_of(const Choice& each) {
    return per_request(*each.row->counts).message_bytes();
}

void choose_kind(const std::vector<Choice>& rows, Advice& advice) {
    const Choice* best = nullptr;
    const Choice* usual = nullptr;
    for (const auto& each : rows) {
        if (each.row->config.scheme != Scheme::summary) continue;
        if (each.row->config.kind == summary::kDefaultKind) usual = &each;
        if (!best || bytes_of(each) < bytes_of(*best)) best = &each;
    }
    if (!best) return;
    if (usual && bytes_of(*best) >= kBytesWorth * bytes_of(*usual)) best = usual;
    advice.config.kind = best->row->config.kind;
    advice.reasons.push_back(fmt::format(
        "Summaries of kind {}: {} bytes between the proxies per request{}.",
        summary::name(advice.config.kind), figure_text(bytes_of(*best)),
        best == usual
            ? std::string(", and no other kind needs a tenth less")
            : fmt::format(" instead of {}", usual ? figure_text(bytes_of(*usual)) : "more")));
}

void choose_announce(const std::vector<Choice>& rows, const SimulationCounts& ideal,
                     Advice& advice) {
    const Choice* best = nullptr;
    const auto loss = [&](const Choice& each) { return lost_hits(*each.row->counts, ideal); };
    const auto messages = [](const Choice& each) {
        return per_request(*each.row->counts).messages();
    };
    double least_loss = 1;
    for (const auto& each : rows) least_loss = std::min(least_loss, loss(each));
    const double allowed = std::max(least_loss, 0.0) + kLossAllowed;
    for (const auto& each : rows) {
        if (each.row->config.announce_delay > kLongestAdvised) continue;
        if (loss(each) <= allowed && (!best || messages(each) < messages(*best))) best = &each;
    }
    if (!best) return;
    advice.config.announce_changed = best->row->config.announce_changed;
    advice.config.announce_delay = best->row->config.announce_delay;
    advice.reasons.push_back(fmt::format(
        "Announce after {}: {} messages per request, and {:.2f} % of the hits lost against a "
        "directory that is right at once. Delays above {} are not advised: what changes at the "
        "origin meanwhile is not simulated.",
        best->title, figure_text(messages(*best)), std::max(loss(*best), 0.0) * 100,
        proxy::format_duration(kLongestAdvised)));
}

/// What would be worse with a copy policy than with the default; empty when nothing.
std::string against_copy(const Choice& each, const Choice& usual) {
    const auto &counts = *each.row->counts, &usually = *usual.row->counts;
    const double hops = per_request(counts).peer - per_request(usually).peer;
    if (static_cast<double>(counts.hits()) <=
        static_cast<double>(usually.hits()) * (1 + kHitsWorth))
        return fmt::format("there would be at most {:.1f} % more hits", kHitsWorth * 100);
    if (counts.waited_ms > kWaitAllowed * usually.waited_ms)
        return fmt::format("requests would wait {:.1f} % longer",
                           (counts.waited_ms / usually.waited_ms - 1) * 100);
    if (hops > kHopsAllowed)
        return fmt::format("a request would take {:.2f} more answers of peers", hops);
    return {};
}

/// "a, b or c".
std::string any_of(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        out += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    return out;
}

/// What speaks against the other copy policies, each reason once.
class Against {
public:
    void add(std::string_view policy, const std::string& why) {
        const auto at = std::find_if(reasons_.begin(), reasons_.end(),
                                     [&](const auto& each) { return each.first == why; });
        auto& named = at == reasons_.end() ? reasons_.emplace_back(why, Names()) : *at;
        named.second.emplace_back(policy);
    }
    /// A sentence after a blank, or nothing.
    std::string text() const {
        std::string out;
        for (const auto& [why, names] : reasons_)
            out += fmt::format("{} {} {}", out.empty() ? " With" : "; with", any_of(names), why);
        return out.empty() ? out : out + '.';
    }

private:
    using Names = std::vector<std::string>;
    std::vector<std::pair<std::string, Names>> reasons_;
};

void choose_copy(const std::vector<Choice>& rows, Advice& advice) {
    const Choice* usual = nullptr;
    for (const auto& each : rows)
        if (each.title == copy_title(proxy::kDefaultCopyPolicy)) usual = &each;
    if (!usual) return;
    const Choice* best = usual;
    const auto hits = [](const Choice& each) {
        return static_cast<double>(each.row->counts->hits());
    };
    Against others;
    for (const auto& each : rows) {
        if (&each == usual || !each.title.starts_with("copy ")) continue;
        const auto against = against_copy(each, *usual);
        if (against.empty()) {
            if (hits(each) > hits(*best)) best = &each;
        } else {
            others.add(proxy::to_string(each.row->config.copy), against);
        }
    }
    advice.config.copy = best->row->config.copy;
    advice.reasons.push_back(
        best == usual
            ? fmt::format("Copies of what a peer gives: {}, the default.{}",
                          proxy::to_string(advice.config.copy), others.text())
            : fmt::format("Copies of what a peer gives: {}, which brings {:.1f} % more hits than "
                          "{}.",
                          proxy::to_string(advice.config.copy),
                          (hits(*best) / hits(*usual) - 1) * 100,
                          proxy::to_string(proxy::kDefaultCopyPolicy)));
}

}  // namespace

bool Gain::pays() const {
    return origin_requests >= kWorthSparing && saved_bytes_per_day > message_bytes_per_day &&
           waited_ms <= waited_ms_alone;
}

Gain gain_of(const LogFacts& log, const SimulationCounts& alone, const SimulationCounts& shared) {
    Gain out;
    const auto each = per_request(shared), each_alone = per_request(alone);
    out.hits = each.total - each_alone.total;
    out.origin_requests = each_alone.total < 1 ? out.hits / (1 - each_alone.total) : 0;
    out.timed = log.span >= kLongEnough;
    const double days = out.timed ? std::chrono::duration<double>(log.span).count() / 86'400 : 1;
    const double requests = static_cast<double>(log.requests) / days;
    const double bytes = static_cast<double>(log.bytes) / days;
    out.saved_requests_per_day = out.hits * requests;
    out.saved_bytes_per_day = (each.total_bytes - each_alone.total_bytes) * bytes;
    out.messages_per_day = each.messages() * requests;
    out.message_bytes_per_day = each.message_bytes() * requests;
    out.waited_ms = each.waited_ms;
    out.waited_ms_alone = each_alone.waited_ms;
    return out;
}

std::optional<Advice> advise(const Study& study) {
    const auto schemes = run_rows(study, About::schemes);
    const auto* ideal = of_scheme(schemes, Scheme::icp);
    const auto* ours = of_scheme(schemes, Scheme::summary);
    if (!ideal || !ours || !of_scheme(schemes, Scheme::none)) return std::nullopt;
    Advice out;
    out.config = ours->row->config;
    choose_kind(schemes, out);
    choose_announce(run_rows(study, About::announce), *ideal->row->counts, out);
    choose_copy(run_rows(study, About::copies), out);
    return out;
}

}  // namespace measure
