#include "measure/study/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using About = StudyTable::About;
using Json = nlohmann::ordered_json;

constexpr double kWorthIt = 0.01;       // of the origin's requests
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

/// What speaks against a copy policy, beside the default; empty when nothing does.
std::string against_copy(const Choice& each, const Choice& usual) {
    const auto &counts = *each.row->counts, &usually = *usual.row->counts;
    const double hops = per_request(counts).peer - per_request(usually).peer;
    if (static_cast<double>(counts.hits()) <=
        static_cast<double>(usually.hits()) * (1 + kHitsWorth))
        return fmt::format("brings no {:.1f} % more hits", kHitsWorth * 100);
    if (counts.waited_ms > kWaitAllowed * usually.waited_ms)
        return fmt::format("lets requests wait {:.1f} % longer",
                           (counts.waited_ms / usually.waited_ms - 1) * 100);
    if (hops > kHopsAllowed)
        return fmt::format("takes {:.2f} more answers of peers per request", hops);
    return {};
}

void choose_copy(const std::vector<Choice>& rows, Advice& advice) {
    const Choice* usual = nullptr;
    for (const auto& each : rows)
        if (each.title == copy_title(proxy::kDefaultCopyPolicy)) usual = &each;
    if (!usual) return;
    const Choice* best = usual;
    const auto hits = [](const Choice& each) {
        return static_cast<double>(each.row->counts->hits());
    };
    std::string others;
    for (const auto& each : rows) {
        if (&each == usual || !each.title.starts_with("copy ")) continue;
        const auto against = against_copy(each, *usual);
        if (against.empty()) {
            if (hits(each) > hits(*best)) best = &each;
        } else {
            others += fmt::format("{} {} {}", others.empty() ? ":" : ",",
                                  proxy::to_string(each.row->config.copy), against);
        }
    }
    advice.config.copy = best->row->config.copy;
    advice.reasons.push_back(
        best == usual
            ? fmt::format("Copies of what a peer gives: {}, the default{}.",
                          proxy::to_string(advice.config.copy), others)
            : fmt::format("Copies of what a peer gives: {}, which brings {:.1f} % more hits than "
                          "{}.",
                          proxy::to_string(advice.config.copy),
                          (hits(*best) / hits(*usual) - 1) * 100,
                          proxy::to_string(proxy::kDefaultCopyPolicy)));
}

std::string day(const Gain& gain) {
    return gain.timed ? "per day" : "over the whole log";
}

std::string many(double count) {
    return grouped(static_cast<std::uint64_t>(std::llround(std::max(count, 0.0))));
}

/// As a node's configuration has them.
Json settings_of(const SimulationConfig& config, const CacheSize& cache) {
    Json out = Json::object();
    if (cache.part == 0) out["cache"]["memory"] = cache.text();
    out["cluster"]["copy"] = proxy::to_string(config.copy);
    auto& summaries = out["summary"];
    summaries["kind"] = summary::name(config.kind);
    summaries["false_hit_budget"] = config.false_hit_budget;
    summaries["announce"]["changed"] = config.announce_changed;
    summaries["announce"]["delay"] = proxy::format_duration(config.announce_delay);
    return out;
}

/// Rows that the words are about.
struct Counted {
    const SimulationCounts *alone, *shared, *ideal;
};
Counted counted(const Study& study, const Advice& advice) {
    const auto rows = run_rows(study, About::schemes);
    const auto of = [&](Scheme scheme) {
        const auto* row = of_scheme(rows, scheme);
        return row ? &*row->row->counts : nullptr;
    };
    return {of(Scheme::none), study.counts(advice.config), of(Scheme::icp)};
}

/// Why sharing does not pay; empty when it does.
std::string why_not(const Study& study, const Advice& advice, const Counted& rows,
                    const Gain& gain) {
    if (gain.pays()) return {};
    if (gain.origin_requests >= kWorthIt)
        return gain.waited_ms > gain.waited_ms_alone
                   ? "The way to the peers takes more than it spares."
                   : "It moves more bytes between the proxies than it spares at the origin.";
    const bool much_in_common =
        rows.ideal && gain_of(study.log, *rows.alone, *rows.ideal).origin_requests >= kWorthIt;
    if (!much_in_common)
        return "The clients of different proxies hardly ask for the same things, or the caches "
               "are too small to keep them: more memory comes first.";
    if (rows.shared->questions < rows.ideal->peer_hits / 2) {
        const auto& network = advice.config.network;
        return fmt::format(
            "The peers are too far to be asked: {:.4g} ms there and back at the least, the origin "
            "takes {} ms. They were asked {}, though they had {}.",
            std::chrono::duration<double, std::milli>(2 * network.delay).count(),
            network.origin.count(), amount(rows.shared->questions, "time"),
            amount(rows.ideal->peer_hits, "answer"));
    }
    return "The peers have what is asked for, but what they tell of it comes too late or is lost.";
}

}  // namespace

bool Gain::pays() const {
    return origin_requests >= kWorthIt && saved_bytes_per_day > message_bytes_per_day &&
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

std::string advice_text(const Study& study, const Advice& advice) {
    const auto rows = counted(study, advice);
    const auto [alone, shared, ideal] = rows;
    if (!alone || !shared) return {};
    const auto gain = gain_of(study.log, *alone, *shared);
    const auto each = per_request(*shared), each_alone = per_request(*alone);
    const auto& config = advice.config;
    std::string out =
        fmt::format("{} proxies with {} each{}:\n\n", config.proxies,
                    size_text(static_cast<double>(config.cache_bytes)),
                    study.log.synthetic ? ", and a made-up workload (do not decide by it)" : "");
    out += fmt::format(
        "{}: {:.1f} % of the requests are hits with it ({:.1f} % local, {:.1f} % from a peer), "
        "{:.1f} % without.\n",
        gain.pays() ? "Sharing pays" : "Sharing DOES NOT PAY", each.total * 100, each.local * 100,
        each.peer * 100, each_alone.total * 100);
    out += fmt::format(
        "It spares the origin {} requests {} ({:.1f} % of what it is asked without) and {}.\n",
        many(gain.saved_requests_per_day), day(gain), gain.origin_requests * 100,
        size_text(std::max(gain.saved_bytes_per_day, 0.0)));
    out +=
        fmt::format("It costs {} messages between the proxies {}, {} of them.\n",
                    many(gain.messages_per_day), day(gain), size_text(gain.message_bytes_per_day));
    out += fmt::format("A request waits {:.1f} ms in the mean, {:.1f} without.\n", gain.waited_ms,
                       gain.waited_ms_alone);
    if (!gain.pays()) return out + why_not(study, advice, rows, gain) + "\n";
    out += "\nWhat to set:\n";
    for (const auto& reason : advice.reasons) out += "- " + reason + "\n";
    const auto error = summary::error_per_summary(config.false_hit_budget, config.proxies - 1);
    out += fmt::format(
        "- Error of a summary: 1 in {:.0f} ({:.1f} bits per object at the least), which keeps "
        "false "
        "hits to {:.4g} per miss over all peers; {} were counted per request.\n",
        1 / error, std::log2(1 / error), config.false_hit_budget, figure_text(each.false_hits));
    out += fmt::format("- Memory for summaries at each proxy: {}, beside the {} of its cache.\n",
                       size_text(static_cast<double>(shared->summary_bytes)),
                       size_text(static_cast<double>(config.cache_bytes)));
    return out + "\n" + settings_of(config, study.tables.front().cache).dump(2) + "\n";
}

std::string advice_json(const Study& study, const Advice& advice) {
    const auto rows = counted(study, advice);
    const auto [alone, shared, ideal] = rows;
    if (!alone || !shared) return {};
    const auto gain = gain_of(study.log, *alone, *shared);
    Json inner = {{"pays", gain.pays()},
                  {"proxies", advice.config.proxies},
                  {"hit_ratio", per_request(*shared).total},
                  {"hit_ratio_alone", per_request(*alone).total},
                  {"origin_requests_spared", gain.origin_requests},
                  {"per", gain.timed ? "day" : "log"},
                  {"saved_requests", gain.saved_requests_per_day},
                  {"saved_bytes", gain.saved_bytes_per_day},
                  {"messages", gain.messages_per_day},
                  {"message_bytes", gain.message_bytes_per_day},
                  {"waited_ms", gain.waited_ms},
                  {"waited_ms_alone", gain.waited_ms_alone},
                  {"summary_bytes", shared->summary_bytes}};
    if (gain.pays()) {
        inner["reasons"] = advice.reasons;
        inner["settings"] = settings_of(advice.config, study.tables.front().cache);
    } else {
        inner["why_not"] = why_not(study, advice, rows, gain);
    }
    Json out = Json::object();
    out["advice"] = inner;
    return out.dump();
}

}  // namespace measure
