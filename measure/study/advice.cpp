#include "measure/study/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using Topic = StudyTable::Topic;

constexpr double kLossAllowed = 0.001;  // of the hits, for fewer messages
constexpr double kBytesWorth = 0.9;  // another kind must cost less than this share of the default's
                                     // bytes
constexpr double kHitsWorth = 0.002;   // another copy policy must bring more hits than this
constexpr double kHopsAllowed = 0.3;   // in addition to the default; each hop is an answer given
                                       // twice
constexpr double kWaitAllowed = 1.01;  // most waiting time, relative to the default
constexpr std::chrono::hours kLongEnough{23};  // covers every hour of the day

struct Choice {
    const StudyRow* row;
    std::string title;
};

/// The rows of the first table about this that were run.
std::vector<Choice> run_rows(const Study& study, Topic about) {
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

std::string announce_title(const SimulationConfig& config) {
    if (config.announce_changed >= 1) return proxy::format_duration(config.announce_delay);
    return fmt::format("{} or {}", proxy::format_duration(config.announce_delay),
                       part_text(config.announce_changed));
}

/// The row that announces least often and stays within the allowed loss of hits; null if none was
/// run.
const Choice* best_announce(const std::vector<Choice>& rows, const SimulationCounts& ideal) {
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
    return best;
}

/// The disadvantages of a copy policy against the default; empty if it has none.
std::string against_copy(const SimulationCounts& counts, const SimulationCounts& usually) {
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

/// The arguments against the other copy policies, each once.
class PolicyArguments {
public:
    void add(std::string_view policy, const std::string& why) {
        const auto at = std::find_if(reasons_.begin(), reasons_.end(),
                                     [&](const auto& each) { return each.first == why; });
        auto& named = at == reasons_.end() ? reasons_.emplace_back(why, Names()) : *at;
        named.second.emplace_back(policy);
    }
    /// A sentence after a blank, or an empty string.
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

/// The copy policy with the most hits, and the arguments against the others.
struct CopyChoice {
    proxy::CopyPolicy policy = proxy::kDefaultCopyPolicy;
    PolicyArguments others;
};
CopyChoice best_copy(const std::vector<Choice>& rows) {
    CopyChoice out;
    const Choice* usual = nullptr;
    for (const auto& each : rows)
        if (each.title == copy_title(proxy::kDefaultCopyPolicy)) usual = &each;
    if (!usual) return out;
    const Choice* best = usual;
    for (const auto& each : rows) {
        if (&each == usual || !each.title.starts_with("copy ")) continue;
        const auto against = against_copy(*each.row->counts, *usual->row->counts);
        if (!against.empty())
            out.others.add(proxy::to_string(each.row->config.copy), against);
        else if (each.row->counts->hits() > best->row->counts->hits())
            best = &each;
    }
    out.policy = best->row->config.copy;
    return out;
}

/// The choices that single tables recommend.
struct Choices {
    SimulationConfig base;  // as the study has it
    const SimulationCounts *as_it_is = nullptr, *ideal = nullptr;
    SimulationConfig announce;  // with the announcements chosen
    CopyChoice copy;
};
std::optional<Choices> choices_of(const Study& study) {
    const auto schemes = run_rows(study, Topic::schemes);
    const auto* ideal = of_scheme(schemes, Scheme::icp);
    const auto* ours = of_scheme(schemes, Scheme::summary);
    if (!ideal || !ours || !of_scheme(schemes, Scheme::none)) return std::nullopt;
    Choices out;
    out.base = out.announce = ours->row->config;
    out.as_it_is = &*ours->row->counts;
    out.ideal = &*ideal->row->counts;
    const auto announced = run_rows(study, Topic::announce);
    if (const auto* best = best_announce(announced, *out.ideal)) {
        out.announce.announce_changed = best->row->config.announce_changed;
        out.announce.announce_delay = best->row->config.announce_delay;
    }
    out.copy = best_copy(run_rows(study, Topic::copies));
    return out;
}

/// A combination that was run.
struct StudiedCombination {
    SimulationConfig config;
    const SimulationCounts* counts = nullptr;

    double bytes() const { return per_request(*counts).message_bytes(); }
};

/// The kind with the fewest bytes, if the saving justifies another than the default. Its counts are
/// null if none was run.
StudiedCombination best_kind(const Study& study, const Choices& choices, proxy::CopyPolicy copy,
                             std::string& reason) {
    StudiedCombination best, usual;
    for (const auto kind : summary::kKinds) {
        StudiedCombination each{choices.announce, nullptr};
        each.config.kind = kind;
        each.config.copy = copy;
        each.counts = study.counts(each.config);
        if (!each.counts) continue;
        if (kind == summary::kDefaultKind) usual = each;
        if (!best.counts || each.bytes() < best.bytes()) best = each;
    }
    if (!best.counts) return best;
    const auto least = best;
    if (usual.counts && best.bytes() >= kBytesWorth * usual.bytes()) best = usual;
    const bool is_usual = best.config.kind == summary::kDefaultKind;
    reason = fmt::format(
        "Summaries of kind {}: {} bytes between the proxies per request{}.",
        summary::name(best.config.kind), figure_text(best.bytes()),
        is_usual ? std::string("; the other kinds need more than nine tenths of that")
                 : fmt::format(" instead of {}",
                               usual.counts ? figure_text(usual.bytes()) : std::string("more")));
    return best;
}

std::string why_announce(const StudiedCombination& chosen, const Choices& choices) {
    const auto figures = [&](const SimulationCounts& counts) {
        return fmt::format("{} messages per request, and {:.2f} % of the hits lost",
                           figure_text(per_request(counts).messages()),
                           std::max(lost_hits(counts, *choices.ideal), 0.0) * 100);
    };
    const auto title = announce_title(chosen.config), usual = announce_title(choices.base);
    return fmt::format(
        "Announce after {}: {} against a directory that is always current{}. Delays above {} are "
        "not advised, because changes at the origin are not simulated.",
        title, figures(*chosen.counts),
        title == usual ? std::string()
                       : fmt::format(" (after {}: {})", usual, figures(*choices.as_it_is)),
        proxy::format_duration(kLongestAdvised));
}

std::string why_copy(const StudiedCombination& chosen, const SimulationCounts* usual,
                     const Choices& choices) {
    const auto name = proxy::to_string(chosen.config.copy);
    if (chosen.config.copy != proxy::kDefaultCopyPolicy && usual)
        return fmt::format(
            "Copies of peers' responses: {}, which brings {:.1f} % more hits than {}.", name,
            (static_cast<double>(chosen.counts->hits()) / static_cast<double>(usual->hits()) - 1) *
                100,
            proxy::to_string(proxy::kDefaultCopyPolicy));
    const auto others = choices.copy.others.text();
    return fmt::format(
        "Copies of peers' responses: {}{}.{}{}", name,
        chosen.config.copy == proxy::kDefaultCopyPolicy ? ", the default" : "", others,
        others.empty()
            ? std::string()
            : fmt::format(" (Seen with announcements after {}.)", announce_title(choices.base)));
}

/// Names both optima of `cache.favour`: most requests, and least traffic of the origin. Empty if
/// one of the rows was not run.
std::string why_favour(const Study& study) {
    std::optional<RequestRates> bytes, requests;
    for (const auto& each : run_rows(study, Topic::copies)) {
        if (each.title == eviction_title(Replacement::s3_fifo))
            bytes = per_request(*each.row->counts);
        if (each.title == eviction_title(Replacement::by_value))
            requests = per_request(*each.row->counts);
    }
    if (!bytes || !requests) return {};
    const auto optimum = [&](double RequestRates::*share) {
        const auto by_requests = (*requests).*share > (*bytes).*share;
        const auto& best = by_requests ? *requests : *bytes;
        return fmt::format("cache.favour {} ({:.1f} % of the requests and {:.1f} % of the bytes)",
                           by_requests ? "requests" : "bytes", best.total * 100,
                           best.total_bytes * 100);
    };
    const auto most = optimum(&RequestRates::total), least = optimum(&RequestRates::total_bytes);
    if (most == least)
        return fmt::format(
            "Eviction: most requests are hits, and the origin sends the fewest bytes, with {}.",
            most);
    return fmt::format(
        "Eviction: most requests are hits with {}, and the origin sends the fewest bytes with {}.",
        most, least);
}

/// The reason against the combination of all choices; empty if it is advisable.
std::string why_not_together(const SimulationCounts& counts, const SimulationCounts& as_it_is) {
    const auto hits = static_cast<double>(counts.hits()),
               usual = static_cast<double>(as_it_is.hits());
    if (hits < usual * (1 - 2 * kLossAllowed))
        return fmt::format("lose {:.2f} % of the hits", (1 - hits / usual) * 100);
    if (counts.waited_ms > kWaitAllowed * as_it_is.waited_ms)
        return fmt::format("make requests wait {:.1f} % longer",
                           (counts.waited_ms / as_it_is.waited_ms - 1) * 100);
    return {};
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
    out.asked_alone = 1 - each_alone.total;
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

std::vector<SimulationConfig> combinations(const Study& study) {
    std::vector<SimulationConfig> out;
    const auto choices = choices_of(study);
    if (!choices) return out;
    for (const auto copy : {choices->copy.policy, proxy::kDefaultCopyPolicy}) {
        for (const auto kind : summary::kKinds) {
            auto& each = out.emplace_back(choices->announce);
            each.kind = kind;
            each.copy = copy;
        }
        if (choices->copy.policy == proxy::kDefaultCopyPolicy) break;
    }
    return out;
}

std::optional<Advice> advise(const Study& study) {
    const auto choices = choices_of(study);
    if (!choices) return std::nullopt;
    std::string why_kind, why_usual_kind;
    auto best = best_kind(study, *choices, choices->copy.policy, why_kind);
    const auto usual = best_kind(study, *choices, proxy::kDefaultCopyPolicy, why_usual_kind);
    if (!best.counts) return std::nullopt;
    if (usual.counts && best.config.copy != proxy::kDefaultCopyPolicy &&
        !against_copy(*best.counts, *usual.counts).empty()) {
        best = usual;  // the gain of a policy with quick announcements may vanish with late ones
        why_kind = why_usual_kind;
    }
    Advice out;
    const auto not_together = why_not_together(*best.counts, *choices->as_it_is);
    if (!not_together.empty()) {
        out.config = choices->base;
        out.reasons.push_back(fmt::format(
            "Everything stays as it is: the best kind ({}), announcements ({}) and copies ({}), "
            "each of which would do alone, together {}.",
            summary::name(best.config.kind), announce_title(best.config),
            proxy::to_string(best.config.copy), not_together));
    } else {
        out.config = best.config;
        out.reasons = {why_kind, why_announce(best, *choices),
                       why_copy(best, usual.counts, *choices)};
    }
    if (auto favour = why_favour(study); !favour.empty()) out.reasons.push_back(std::move(favour));
    return out;
}

}  // namespace measure
