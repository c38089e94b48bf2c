#include "app/simulate_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "app/exit_codes.hpp"
#include "app/fail.hpp"
#include "app/page_file.hpp"
#include "app/version.hpp"
#include "base/text/plain_message.hpp"
#include "measure/report/numbers.hpp"
#include "measure/report/progress.hpp"
#include "measure/study/advice.hpp"
#include "measure/study/paper.hpp"
#include "measure/study/run_study.hpp"
#include "measure/study/study_html.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kQuietAtFirst = 2s;
constexpr auto kPauseWithoutTerminal = 10s;
constexpr std::size_t kPaperProxies = 8;

/// Shows the progress of a long study.
class StudyReporter {
public:
    explicit StudyReporter(bool quiet) : progress_(quiet, kPauseWithoutTerminal) {}

    bool operator()(const measure::StudyProgress& now) {
        const auto elapsed = Clock::now() - begin_;
        if (elapsed > kQuietAtFirst) progress_.update(text(now, elapsed));
        return !measure::InterruptGuard::asked();
    }
    void clear() { progress_.clear(); }

private:
    static std::string text(const measure::StudyProgress& now,
                            std::chrono::duration<double> elapsed) {
        auto out =
            fmt::format("{:>3.0f} %  {} of {} simulations", now.part * 100, now.done, now.rows);
        if (now.part > 0.05) {
            const auto left = elapsed * (1 / now.part - 1);
            out += fmt::format(", {} left",
                               measure::span_text(std::chrono::ceil<std::chrono::seconds>(left)));
        }
        return out;
    }

    measure::Progress progress_;
    Clock::time_point begin_ = Clock::now();
};

/// A log or a made-up workload. INT and TERM end the program while it is read; afterwards they ask
/// for an early end of the study.
struct ReadInput {
    ReadInput(const SimulationInput& input, const std::string& path) : trace(input.read(path)) {}
    explicit ReadInput(const SimulationInput& input)
        : ReadInput(input, input.traces.empty() ? std::string() : input.traces.front()) {}

    const measure::Trace trace;
    const measure::InterruptGuard end;
};

measure::PageFacts facts_of(const SimulateCommand& command) {
    return {command.output.written, version_text(), command.study.base.seed};
}

/// The exit code, and the output still to be printed.
struct CommandResult {
    int code = kOk;
    std::string text;
};

/// Throws std::invalid_argument for settings that fail with every number of proxies. A study would
/// otherwise refuse its schemes row by row.
void check_once(const SimulateCommand& command, const std::vector<std::size_t>& proxies) {
    auto config = command.study.base;
    if (command.only) config.scheme = *command.only;
    for (const auto each : proxies) {
        config.proxies = each;
        check(config);
    }
}

/// Throws std::invalid_argument for an event after the last request.
void check_times(const measure::SimulatedNetwork& network, const measure::LogFacts& log) {
    const auto refuse = [&](const char* what, std::chrono::milliseconds at) {
        if (at > log.span)
            throw std::invalid_argument(
                fmt::format("{} at {} never comes: the requests end {} "
                            "after the first",
                            what, proxy::format_duration(at), measure::span_text(log.span)));
    };
    for (const auto& cut : network.partitions) refuse("the partition", cut.from);
    for (const auto& restart : network.restarts) refuse("the restart", restart.at);
}

/// Warns on standard error of a log that shows little.
void warn_of_little(const measure::LogFacts& log) {
    constexpr std::uint64_t kFewRequests = 100;
    if (log.synthetic) return;
    if (log.objects >= log.requests)
        fmt::print(
            stderr,
            "hearsay: warning: {}: no URL comes twice, so no cache has a hit and the figures "
            "say little\n",
            log.title);
    else if (log.requests < kFewRequests)
        fmt::print(stderr,
                   "hearsay: warning: {}: the figures of {} say little; {} or more are needed\n",
                   log.title, measure::amount(log.requests, "request"), kFewRequests);
}

/// Returns true if any row was counted.
bool any(const measure::Study& study) {
    for (const auto& row : study.rows)
        if (row.counts) return true;
    return false;
}

CommandResult run_study_command(const SimulateCommand& command) {
    PageFile page(command.output.html);
    StudyReporter reporter(command.output.quiet);
    const ReadInput input(command.input);
    const auto log = measure::facts_of(input.trace, command.study.base);
    auto options = completed(command.study, log);
    warn_of_little(log);
    check_once(command, {options.proxies.front()});
    check_times(command.study.base.network, log);
    if (command.only) options.base.scheme = *command.only;
    auto study =
        command.only ? measure::plan_single(log, options) : measure::plan_study(log, options);
    measure::run_study(input.trace, study, measure::jobs_or_processors(command.jobs),
                       std::ref(reporter));
    std::optional<measure::Advice> advice;
    if (command.advise && !study.stopped) {
        for (const auto& each : measure::combinations(study))
            study.add(each, options.caches.front());
        measure::run_study(input.trace, study, measure::jobs_or_processors(command.jobs),
                           std::ref(reporter));
        if (!study.stopped) advice = advise(study);
    }
    reporter.clear();
    const auto words = advice           ? measure::advice_text(study, *advice)
                       : command.advise ? measure::no_advice_text(study)
                                        : std::string();
    if (page.is_wanted()) page.write(measure::study_html(study, words, facts_of(command)));
    const int code = study.stopped || !any(study) ? kFailed : kOk;
    if (command.output.json)
        return {code, measure::study_json(
                          study, advice ? measure::advice_json(study, *advice) : std::string())};
    const bool tables = command.output.tables || !command.advise;
    return {code, measure::study_text(study, measure::output_may_be_coloured(), words, tables)};
}

/// Simulates one proxy with a disk.
CommandResult run_tiers_command(const SimulateCommand& command) {
    StudyReporter reporter(command.output.quiet);
    const ReadInput input(command.input);
    const measure::TiersConfig base{command.study.base};
    const auto log = measure::facts_of(input.trace, command.study.base);
    warn_of_little(log);
    auto study = measure::plan_tiers(log, command.study.caches, command.memory, base);
    measure::run_tiers(input.trace, study, measure::jobs_or_processors(command.jobs),
                       std::ref(reporter));
    reporter.clear();
    return {study.stopped ? kFailed : kOk,
            command.output.json ? measure::tiers_json(study)
                                : measure::tiers_text(study, measure::output_may_be_coloured())};
}

/// Runs the paper's simulation of each log.
CommandResult run_paper_command(const SimulateCommand& command) {
    StudyReporter reporter(command.output.quiet);
    std::vector<measure::Study> studies;
    bool stopped = false;
    for (const auto& path : command.input.traces) {
        if (stopped) break;
        const ReadInput input(command.input, path);
        const auto log = measure::facts_of(input.trace, command.study.base);
        warn_of_little(log);
        auto options = command.study;
        if (options.proxies.empty()) options.proxies = {kPaperProxies};
        auto& study = studies.emplace_back(measure::plan_paper(log, completed(options, log)));
        measure::run_study(input.trace, study, measure::jobs_or_processors(command.jobs),
                           std::ref(reporter));
        stopped = study.stopped;
    }
    reporter.clear();
    return {stopped ? kFailed : kOk,
            command.output.json ? measure::paper_json(studies)
                                : measure::paper_text(studies, measure::output_may_be_coloured())};
}

CommandResult run(SimulateCommand& command) {
    if (command.input.traces.empty() && !command.input.synthetic)
        throw std::invalid_argument("simulate needs --trace FILE or --synthetic");
    if (command.only && (command.advise || !command.output.html.empty()))
        throw std::invalid_argument("--advise and --html compare schemes: leave out --scheme");
    if (command.output.tables && !command.advise)
        throw std::invalid_argument("--tables is for --advise: without it they are all there is");
    if (command.paper && (command.only || command.advise || !command.output.html.empty()))
        throw std::invalid_argument(
            "--paper has its own schemes and tables: leave out --scheme, --advise and --html");
    if (command.paper && command.input.synthetic)
        throw std::invalid_argument("--paper is for logs: leave out --synthetic");
    if (!command.paper && command.input.traces.size() > 1)
        throw std::invalid_argument("several --trace are for --paper");
    if (const auto seed = command.input.seed)
        command.input.workload.seed = command.study.base.seed = *seed;
    if (command.tiers) return run_tiers_command(command);
    if (command.changed)
        command.study.base.announce_changed = *command.changed;
    else if (command.only && *command.only != measure::Scheme::summary)
        command.study.base.announce_changed = measure::kPaperThreshold;
    if (command.kind && command.only && *command.only != measure::Scheme::summary)
        throw std::invalid_argument("--kind is of the scheme summary");
    if (command.kind) command.study.base.kind = *command.kind;
    if (command.load && command.only != measure::Scheme::paper_bloom)
        throw std::invalid_argument("--load is of the scheme paper_bloom");
    if (command.load) command.study.base.load_factor = *command.load;
    check_once(command, command.study.proxies);
    return command.paper ? run_paper_command(command) : run_study_command(command);
}

}  // namespace

measure::Trace SimulationInput::read(const std::string& path) const {
    if (synthetic) {
        auto made = workload;
        if (rate > 0) made.requests_per_second = rate;
        if (duration) {
            const double requests =
                std::chrono::duration<double>(*duration).count() * made.requests_per_second;
            if (!(requests >= 1 && requests <= measure::kMaxRequests))
                throw std::invalid_argument(
                    fmt::format("--duration and --rate make {:.3g} requests; 1 to {} can be had",
                                requests, measure::kMaxRequests));
            made.requests = static_cast<std::uint32_t>(requests);
        }
        return measure::make_workload(made);
    }
    auto options = trace;
    options.path = path;
    options.https = true;  // a simulation sends nothing, so https URLs count too
    auto log = measure::load_trace(options);
    measure::retime(log, rate, speedup);
    return log;
}

int simulate_command(SimulateCommand command) {
    CommandResult done;
    try {
        done = run(command);
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::exception& error) {
        return fail(kFailed, "{}", base::plain_message(error));
    }
    fmt::print("{}", done.text);  // main() reports an output that fails
    return done.code;
}

}  // namespace app
