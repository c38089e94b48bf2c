#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/report/numbers.hpp"
#include "measure/study/advice.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

/// The time that figures cover: a day, or the span of the log.
std::string time_of(const Gain& gain, const LogFacts& log) {
    return gain.timed ? "per day" : fmt::format("in the {} of the log", span_text(log.span));
}

std::string many(double count) {
    return grouped(static_cast<std::uint64_t>(std::llround(std::max(count, 0.0))));
}

/// The settings as in a node's configuration.
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

/// The rows that the text is about; null if they were not run.
struct CountedRows {
    const SimulationCounts *alone, *shared, *ideal;
};
CountedRows counted(const Study& study, const Advice& advice) {
    CountedRows out{nullptr, study.counts(advice.config), nullptr};
    const auto* table = study.table(StudyTable::Topic::schemes);
    if (!table) return out;
    out.ideal = ideal_of(study, *table);
    for (const auto& line : table->lines) {
        const auto& row = study.row(line);
        if (row.config.scheme == Scheme::none && row.counts) out.alone = &*row.counts;
    }
    return out;
}

/// The reason why settings are omitted: sharing does not pay, or cannot be judged. Empty if it
/// pays.
std::string why_not(const Study& study, const Advice& advice, const CountedRows& rows,
                    const Gain& gain) {
    if (auto left_out = left_out_too_much(study.log, gain); !left_out.empty()) return left_out;
    if (auto too_little = too_little_to_tell(study.log, advice.config); !too_little.empty())
        return too_little;
    if (gain.pays()) return {};
    if (gain.origin_requests >= kWorthSparing)
        return gain.waited_ms > gain.waited_ms_alone
                   ? "The way to the peers takes more than it spares."
                   : "It moves more bytes between the proxies than it spares at the origin.";
    const bool much_in_common =
        rows.ideal && gain_of(study.log, *rows.alone, *rows.ideal).origin_requests >= kWorthSparing;
    if (!much_in_common)
        return "The clients of different proxies hardly ask for the same things, or the caches "
               "are too small to keep them: more memory comes first.";
    if (rows.shared->peers_too_far > rows.ideal->peer_hits / 2) {
        const auto& network = advice.config.network;
        return fmt::format(
            "The peers have the requested objects, but are too far away: {:.4g} ms there and back "
            "at "
            "the least, while the origin takes {} ms. So the origin was asked for {} that a "
            "summary claimed.",
            std::chrono::duration<double, std::milli>(2 * network.delay).count(),
            network.origin.count(), amount(rows.shared->peers_too_far, "answer"));
    }
    return "The peers have the requested objects, but their announcements come too late or are "
           "lost.";
}

const char* verdict(const Study& study, const Advice& advice, const Gain& gain) {
    if (!left_out_too_much(study.log, gain).empty())
        return "NO VERDICT on sharing, from the lines that were read";
    if (!too_little_to_tell(study.log, advice.config).empty())
        return "TOO LITTLE FOR A VERDICT on sharing";
    return gain.pays() ? "Sharing pays" : "Sharing DOES NOT PAY";
}

}  // namespace

std::string too_little_to_tell(const LogFacts& log, const SimulationConfig& config) {
    if (config.proxies == 1) return "One proxy has no peers: --proxies must be 2 or more.";
    if (log.clients == 1)
        return "All requests are of one client, so of one proxy: no other proxy asks for its "
               "objects.";
    if (const auto fewest = kFewestClients * config.proxies; log.clients < fewest)
        return fmt::format(
            "{} are too few for {}: a verdict takes {} or more. Load balancers in front of the "
            "server may hide the clients: take a log with the clients' own addresses, or fewer "
            "--proxies.",
            amount(log.clients, "client"), proxies_text(config.proxies), grouped(fewest));
    if (log.requests < kFewestRequests * config.proxies)
        return fmt::format("{} are too few for {}: take a longer log, or fewer --proxies.",
                           amount(log.requests, "request"), proxies_text(config.proxies));
    if (config.cache_bytes == 0) return {};
    const double mean = mean_object_bytes(log, config.unit_objects);
    const double held = static_cast<double>(config.cache_bytes) / mean;
    if (held >= kFewestObjects) return {};
    return fmt::format(
        "A cache of {} has room for {} of the log's {}, which are of {} in the mean, head and all: "
        "take a larger --cache, or fewer --proxies.",
        size_text(static_cast<double>(config.cache_bytes)),
        held < 1 ? std::string("none") : grouped(static_cast<std::uint64_t>(held)),
        amount(log.objects, "object"), size_text(mean));
}

std::string left_out_too_much(const LogFacts& log, const Gain& gain) {
    if (log.in_doubt == 0) return {};
    const double doubted = static_cast<double>(log.in_doubt),
                 taken = static_cast<double>(log.requests);
    const auto what = fmt::format("{} left out as uncertain", amount(log.in_doubt, "line"));
    if (const double share = doubted / (doubted + taken); share > kDoubtAllowed)
        return fmt::format(
            "With {} ({:.0f} % of the possible requests), the rest may misrepresent the log: use a "
            "log of requests only, in one of the known formats.",
            what, share * 100);
    // The origin gets requests for all of them in any case, or for none if proxies share.
    const double asked = gain.asked_alone * taken + doubted;
    const double least = gain.hits * taken / asked, most = (gain.hits * taken + doubted) / asked;
    if (gain.pays() ? least >= kWorthSparing
                    : gain.origin_requests >= kWorthSparing || most < kWorthSparing)
        return {};
    return fmt::format(
        "It is too close: with {}, sharing may save the origin {:.2f} to {:.2f} % of its "
        "requests, and it pays from {:.0f} % on.",
        what, least * 100, most * 100, kWorthSparing * 100);
}

std::string advice_text(const Study& study, const Advice& advice) {
    const auto rows = counted(study, advice);
    const auto [alone, shared, ideal] = rows;
    if (!alone || !shared) return {};
    const auto gain = gain_of(study.log, *alone, *shared);
    const auto each = per_request(*shared), each_alone = per_request(*alone);
    const auto& config = advice.config;
    std::string out = fmt::format(
        "{} with {}{}{}:\n\n", proxies_text(config.proxies),
        size_text(static_cast<double>(config.cache_bytes)), config.proxies == 1 ? "" : " each",
        study.log.synthetic ? ", and a made-up workload (do not decide by it)" : "");
    out += fmt::format(
        "{}: {:.1f} % of the requests are hits with it ({:.1f} % local, {:.1f} % from a peer), "
        "{:.1f} % without.\n",
        verdict(study, advice, gain), each.total * 100, each.local * 100, each.peer * 100,
        each_alone.total * 100);
    out += fmt::format(
        "It spares the origin {} requests {} ({:.1f} % of those without sharing) and {}.\n",
        many(gain.saved_requests_per_day), time_of(gain, study.log), gain.origin_requests * 100,
        size_text(std::max(gain.saved_bytes_per_day, 0.0)));
    out += fmt::format("It costs {} messages between the proxies {}, {} of them.\n",
                       many(gain.messages_per_day), time_of(gain, study.log),
                       size_text(gain.message_bytes_per_day));
    if (!gain.timed)
        out += "The log spans less than a day, so daily figures are left out: hours differ.\n";
    out += fmt::format("A request waits {:.1f} ms in the mean, {:.1f} without.\n", gain.waited_ms,
                       gain.waited_ms_alone);
    if (const auto why = why_not(study, advice, rows, gain); !why.empty()) return out + why + "\n";
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

std::string no_advice_text(const Study& study) {
    if (study.stopped) return "No advice: it was stopped before all was simulated.\n";
    std::string why;
    if (const auto* table = study.table(StudyTable::Topic::schemes))
        for (const auto& line : table->lines)
            if (const auto& row = study.row(line); !row.counts && why.empty()) why = row.refused;
    return fmt::format(
        "No advice: it compares proxies that share nothing, that ask by ICP, and that have "
        "summaries. With these options some cannot be simulated{}{}.\n",
        why.empty() ? "" : ", as ", why);
}

std::string advice_json(const Study& study, const Advice& advice) {
    const auto rows = counted(study, advice);
    const auto [alone, shared, ideal] = rows;
    if (!alone || !shared) return {};
    const auto gain = gain_of(study.log, *alone, *shared);
    const bool can_tell = left_out_too_much(study.log, gain).empty() &&
                          too_little_to_tell(study.log, advice.config).empty();
    Json inner = {{"pays", can_tell && gain.pays()},
                  {"can_tell", can_tell},
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
    if (can_tell && gain.pays()) {
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
