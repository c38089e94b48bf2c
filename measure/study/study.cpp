#include "measure/study/study.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/study/scheme_name.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;

SimulationConfig with(SimulationConfig config, Scheme scheme) {
    config.scheme = scheme;
    if (scheme != Scheme::summary && has_threshold(scheme))
        config.announce_changed = kPaperThreshold;
    return config;
}

SimulationConfig with_load(SimulationConfig config, unsigned load) {
    config = with(config, Scheme::paper_bloom);
    config.load_factor = load;
    return config;
}

SimulationConfig with_kind(SimulationConfig config, summary::Kind kind) {
    config.scheme = Scheme::summary;
    config.kind = kind;
    return config;
}

/// The schemes that announce at a threshold, in the order of the paper's figures, then hearsay's.
std::vector<SimulationConfig> with_thresholds(const SimulationConfig& base) {
    std::vector<SimulationConfig> out{with(base, Scheme::exact_directory),
                                      with(base, Scheme::server_names)};
    for (const auto load : kPaperLoadFactors) out.push_back(with_load(base, load));
    for (const auto kind : summary::kKinds) out.push_back(with_kind(base, kind));
    return out;
}

/// Each value keeps its first place.
template <typename Value>
void drop_repeats(std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        values.erase(std::remove(values.begin() + static_cast<std::ptrdiff_t>(i) + 1, values.end(),
                                 Value(values[i])),
                     values.end());
}

class Planner {
public:
    Planner(const LogFacts& log, const StudyOptions& options) : options_(options) {
        study_.log = log;
    }

    void begin(StudyTable::Topic about, std::size_t proxies, const CacheSize& cache) {
        StudyTable table;
        table.about = about;
        table.proxies = proxies;
        table.cache = cache;
        study_.tables.push_back(std::move(table));
    }
    void line(std::string title, const SimulationConfig& config) {
        auto& table = study_.tables.back();
        const auto row = study_.add(config, table.cache);
        table.lines.push_back({std::move(title), row});
    }
    void line(const SimulationConfig& config) { line(title_of(config), config); }
    SimulationConfig base() const {
        const auto& table = study_.tables.back();
        return config_for(study_.log, options_, table.proxies, table.cache);
    }

    void schemes(std::size_t proxies, const CacheSize& cache) {
        begin(StudyTable::Topic::schemes, proxies, cache);
        for (const auto scheme : {Scheme::none, Scheme::icp, Scheme::squid_digest})
            line(with(base(), scheme));
        for (const auto& each : with_thresholds(base())) line(each);
        for (const auto scheme : {Scheme::consistent_hashing, Scheme::single_cache})
            line(with(base(), scheme));
    }

    void staleness(std::size_t proxies, const CacheSize& cache) {
        begin(StudyTable::Topic::staleness, proxies, cache);
        for (auto each : with_thresholds(base())) {
            for (const double threshold : kThresholds) {
                each.announce_changed = threshold;
                each.announce_delay = kNoDelay;
                const bool ours = each.scheme == Scheme::summary;
                line(title_of(each) + (ours ? ", " + part_text(threshold) : std::string()), each);
            }
        }
    }

    void announce(std::size_t proxies, const CacheSize& cache) {
        begin(StudyTable::Topic::announce, proxies, cache);
        auto each = with(base(), Scheme::summary);
        line(fmt::format("{} or {}", proxy::format_duration(each.announce_delay),
                         part_text(each.announce_changed)),
             each);
        each.announce_changed = 1;
        for (const auto delay : kAnnounceDelays) {
            each.announce_delay = delay;
            line(proxy::format_duration(delay), each);
        }
        each.announce_delay = kLongestAdvised;
        for (const double changed : {0.001, 0.01, 0.02, 0.05, 0.1, 0.2}) {
            each.announce_changed = changed;
            line(fmt::format("{} or {}", proxy::format_duration(each.announce_delay),
                             part_text(changed)),
                 each);
        }
    }

    void copies(std::size_t proxies, const CacheSize& cache) {
        begin(StudyTable::Topic::copies, proxies, cache);
        auto each = with(base(), Scheme::summary);
        for (const auto copy : proxy::kCopyPolicies) {
            each.copy = copy;
            line(copy_title(copy), each);
        }
        each.copy = options_.base.copy;
        for (const auto replacement : kReplacements) {
            each.replacement = replacement;
            line(eviction_title(replacement), each);
        }
    }

    Study take() { return std::move(study_); }

private:
    const StudyOptions& options_;
    Study study_;
};

}  // namespace

LogFacts facts_of(const Trace& trace, const SimulationConfig& base) {
    LogFacts facts;
    facts.title = trace.source;
    if (trace.format) facts.title += fmt::format(" ({} format)", to_string(*trace.format));
    facts.synthetic = trace.synthetic;
    facts.requests = trace.requests.size();
    facts.clients = trace.clients.size();
    static_cast<Reading&>(facts) = trace;
    facts.objects = trace.object_bytes.size();
    const auto size_of = [&](std::uint64_t known) {
        return base.unit_objects ? 1 : known != 0 ? known : base.unknown_bytes;
    };
    for (const auto& request : trace.requests) {
        if (request.method == kHead) continue;
        facts.bytes += size_of(trace.object_bytes[trace.urls[request.url].object]);
    }
    for (const auto bytes : trace.object_bytes) facts.distinct_bytes += size_of(bytes);
    if (!trace.requests.empty())
        facts.span = std::chrono::milliseconds(trace.requests.back().time_ms -
                                               trace.requests.front().time_ms);
    return facts;
}

const SimulationCounts* Study::counts(const SimulationConfig& config) const {
    const auto at = std::find_if(rows.begin(), rows.end(),
                                 [&](const StudyRow& row) { return row.config == config; });
    return at == rows.end() || !at->counts ? nullptr : &*at->counts;
}

const StudyTable* Study::table(StudyTable::Topic about) const {
    const auto at = std::find_if(tables.begin(), tables.end(),
                                 [&](const StudyTable& table) { return table.about == about; });
    return at == tables.end() ? nullptr : &*at;
}

std::size_t Study::add(const SimulationConfig& config, const CacheSize& cache) {
    const auto at = std::find_if(rows.begin(), rows.end(),
                                 [&](const StudyRow& row) { return row.config == config; });
    if (at != rows.end()) return static_cast<std::size_t>(at - rows.begin());
    StudyRow row;
    row.config = config;
    row.cache = cache;
    rows.push_back(std::move(row));
    return rows.size() - 1;
}

StudyOptions completed(StudyOptions options, const LogFacts& log) {
    drop_repeats(options.proxies);
    drop_repeats(options.caches);
    if (options.proxies.empty()) {
        auto most = std::max<std::uint64_t>(log.clients, 4);
        if (!options.base.network.is_even())
            most = std::min<std::uint64_t>(most, kMostUnevenProxies);
        for (const auto proxies : kUsualProxies)
            if (proxies <= most) options.proxies.push_back(proxies);
    }
    if (options.caches.empty()) {
        for (const double part : kUsualParts) {
            CacheSize cache;
            cache.part = part;
            options.caches.push_back(cache);
        }
    }
    return options;
}

SimulationConfig config_for(const LogFacts& log, const StudyOptions& options, std::size_t proxies,
                            const CacheSize& cache) {
    auto config = options.base;
    config.proxies = proxies;
    config.cache_bytes = cache.of_each(log.distinct_bytes, proxies);
    return config;
}

Study plan_study(const LogFacts& log, const StudyOptions& options) {
    Planner plan(log, options);
    const auto proxies = options.proxies.front();
    const auto& cache = options.caches.front();
    plan.schemes(proxies, cache);
    plan.copies(proxies, cache);
    plan.announce(proxies, cache);
    plan.staleness(proxies, cache);
    for (const auto& each : options.caches)
        if (&each != &cache) plan.schemes(proxies, each);
    for (const auto& each : options.proxies)
        if (&each != &options.proxies.front()) plan.schemes(each, cache);
    return plan.take();
}

Study plan_paper(const LogFacts& log, const StudyOptions& options) {
    auto paper = options;
    paper.base.replacement = Replacement::lru;
    paper.base.copy = proxy::CopyPolicy::always;
    paper.base.object_max = kPaperObjectMax;
    Planner plan(log, paper);
    const auto proxies = options.proxies.front();
    const auto& cache = options.caches.front();
    plan.begin(StudyTable::Topic::schemes, proxies, cache);
    plan.line(with(plan.base(), Scheme::none));
    plan.line(with(plan.base(), Scheme::icp));
    plan.staleness(proxies, cache);
    return plan.take();
}

Study plan_single(const LogFacts& log, const StudyOptions& options) {
    Planner plan(log, options);
    for (const auto proxies : options.proxies) {
        for (const auto& cache : options.caches) {
            plan.begin(StudyTable::Topic::asked, proxies, cache);
            plan.line(plan.base());
        }
    }
    return plan.take();
}

}  // namespace measure
