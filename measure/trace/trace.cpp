#include "measure/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <stdexcept>

#include "base/text/amount.hpp"
#include "measure/trace/line_reader.hpp"
#include "measure/trace/masked.hpp"
#include "measure/trace/printable.hpp"
#include "measure/trace/target.hpp"

namespace measure {
namespace {

constexpr std::size_t kLinesToDetect = 100;
constexpr std::size_t kFewestToJudgeClocks = 20;
constexpr std::size_t kPartOfWrongClocks = 1000;  // at each end, at most one request in so many (at
                                                  // least one)
constexpr std::int64_t kDayMs = 86'400'000;

bool is_content(std::string_view line) {
    return !line.empty() && line.front() != '#';
}

/// Returns the format of most of the first lines.
std::optional<LogFormat> detect(const std::vector<std::pair<std::uint64_t, std::string>>& lines) {
    std::optional<LogFormat> best;
    std::ptrdiff_t best_count = 0;
    for (const LogFormat format : {LogFormat::tab_separated, LogFormat::squid, LogFormat::common,
                                   LogFormat::json, LogFormat::url_list}) {
        LineParser parser(format);
        const auto count = std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
            return parser.parse(line.second) || parser.why() != kNotThisFormat;
        });
        if (count > best_count) {
            best = format;
            best_count = count;
        }
    }
    return best;
}

/// Turns parsed lines into requests, or counts the reason for leaving them out.
class Loader {
public:
    Loader(const TraceOptions& options, LogFormat format) : options_(options), parser_(format) {
        trace_.source = options.path == "-" ? "standard input" : printable(options.path);
        trace_.format = format;
    }

    /// `number`: of the line in its file, from 1 on.
    void take(std::string_view line, std::uint64_t number) {
        ++trace_.lines;
        const auto refused = refuse(line, number);
        if (!refused) return;
        trace_.in_doubt += refused->in_doubt;
        if (trace_.leave_out(refused->why)) trace_.add_example(refused->why, number, masked(line));
    }
    bool full() const { return trace_.requests.size() >= limit(); }
    Trace finish() && {
        trace_.put_in_order();
        trace_.drop_wrong_clocks();
        return std::move(trace_);
    }

private:
    std::uint64_t limit() const { return std::min<std::uint64_t>(options_.limit, kMaxRequests); }

    struct Refusal {
        std::string_view why;
        bool in_doubt = true;  // the line may have been a request like the ones taken
    };

    std::optional<Refusal> refuse(std::string_view line, std::uint64_t number) {
        const auto parsed = parser_.parse(line);
        if (!parsed) return Refusal{parser_.why()};
        if (parsed->by_peer)
            return Refusal{"a peer's request, which one of a client caused", false};
        if (parsed->method == "CONNECT") return Refusal{"CONNECT", false};
        if (!options_.all && !is_cacheable(parsed->method, parsed->status)) {
            return Refusal{"no cacheable GET (replay --all sends these too)", false};
        }
        std::string_view url = parsed->url;
        if (!url.empty() && url.front() == '/') {
            if (parsed->site.empty())
                absolute_.assign(options_.site);
            else
                absolute_.assign("http://").append(parsed->site);
            absolute_.append(url);
            url = absolute_;
        }
        if (const auto why = check_.refuse(url)) {
            const bool of_others = *why == kHttpsUrl || *why == kForeignScheme;
            if (*why != kHttpsUrl || !options_.https) return Refusal{*why, !of_others};
        }
        if (url.ends_with('?') && may_strip_queries()) return Refusal{kQueryStripped};
        const auto method = method_index(parsed->method);
        if (!method) return Refusal{"not an HTTP method"};
        trace_.add({parsed->time_ms, client_index(parsed->client),
                    trace_.add_url(url, parsed->bytes, logged_size(*parsed)), *method,
                    static_cast<std::uint32_t>(number)});
        return std::nullopt;
    }

    /// Squid strips queries in all its formats by default.
    bool may_strip_queries() const {
        return parser_.format() == LogFormat::squid || parser_.format() == LogFormat::common;
    }

    std::uint32_t client_index(std::string_view name) {
        const auto [at, added] = clients_.try_emplace(std::string(name), trace_.clients.size());
        if (added) {
            std::uint64_t number = trace_.clients.size() + 1;
            if (parser_.format() == LogFormat::tab_separated) {
                std::from_chars(name.data(), name.data() + name.size(), number);
            }
            trace_.clients.push_back(number);
        }
        return at->second;
    }

    std::optional<std::uint8_t> method_index(std::string_view name) {
        const auto& known = trace_.methods;
        const auto at = std::find(known.begin(), known.end(), name);
        if (at == known.end()) {
            const bool token = !name.empty() && name.size() <= 32 &&
                               name.find_first_not_of(
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz-_") == std::string_view::npos;
            if (!token || known.size() >= kMaxMethods) return std::nullopt;
            trace_.methods.emplace_back(name);
            return static_cast<std::uint8_t>(known.size() - 1);
        }
        return static_cast<std::uint8_t>(at - known.begin());
    }

    const TraceOptions& options_;
    LineParser parser_;
    TargetCheck check_;
    Trace trace_;
    std::unordered_map<std::string, std::uint32_t> clients_;
    std::string absolute_;
};

std::string describe_nothing(const Trace& trace) {
    std::string out = trace.source + ": no request is left of " + base::amount(trace.lines, "line");
    for (const auto& [reason, count] : trace.skipped) {
        out += "\n  " + std::to_string(count) + ": " + reason;
        if (const auto at = trace.examples.find(reason); at != trace.examples.end())
            for (const auto& example : at->second) out += "\n    " + example;
    }
    return out;
}

}  // namespace

std::uint32_t Trace::add_url(std::string_view text, std::uint64_t bytes, LoggedSize logged) {
    auto at = url_index_.find(text);
    if (at == url_index_.end()) {
        const std::string_view kept = text_.emplace_back(text);
        at = url_index_.emplace(kept, static_cast<std::uint32_t>(urls.size())).first;
        const auto error =
            key_.assign(proxy::Scheme::http, boost::beast::http::verb::get, text, {});
        const auto next = static_cast<std::uint32_t>(object_bytes.size());
        const auto [object, added] = object_index_.try_emplace(
            std::string(error == proxy::TargetError::none ? key_.uri() : text), next);
        if (added) object_bytes.push_back(0);
        urls.push_back({kept, object->second});
    }
    learn_size(urls[at->second].object, bytes, logged);
    return at->second;
}

void Trace::learn_size(std::uint32_t object, std::uint64_t bytes, LoggedSize logged) {
    if (logged == LoggedSize::none || bytes == 0) return;
    if (size_sources_.size() <= object) size_sources_.resize(object_bytes.size(), LoggedSize::none);
    if (logged < size_sources_[object]) return;
    auto& known = object_bytes[object];
    known =
        std::min(logged > size_sources_[object] ? bytes : std::max(known, bytes), kMaxObjectBytes);
    size_sources_[object] = logged;
}

std::uint32_t Trace::add_new_url(std::string_view text, std::uint64_t bytes) {
    urls.push_back({text_.emplace_back(text), static_cast<std::uint32_t>(object_bytes.size())});
    object_bytes.push_back(bytes);
    return static_cast<std::uint32_t>(urls.size() - 1);
}

void Trace::put_in_order() {
    auto latest = std::numeric_limits<std::int64_t>::min();
    for (const auto& request : requests) {
        if (request.time_ms < latest) ++out_of_order;
        latest = std::max(latest, request.time_ms);
    }
    if (out_of_order == 0) return;
    std::stable_sort(requests.begin(), requests.end(),
                     [](const auto& a, const auto& b) { return a.time_ms < b.time_ms; });
}

void Trace::drop_wrong_clocks() {
    const auto count = requests.size();
    if (count < kFewestToJudgeClocks) return;
    const auto time = [&](std::size_t i) { return requests[i].time_ms; };
    const auto few = std::max<std::size_t>(count / kPartOfWrongClocks, 1);
    const auto apart = std::max(time(count - 1 - few) - time(few), kDayMs);
    std::size_t first = 0, end = count;
    for (std::size_t i = 1; i <= few; ++i)
        if (time(i) - time(i - 1) > apart) first = i;
    for (std::size_t i = count - few; i < count; ++i) {
        if (time(i) - time(i - 1) <= apart) continue;
        end = i;
        break;
    }
    const auto drop = [&](std::size_t i, std::int64_t away, const char* where) {
        ++in_doubt;
        if (!leave_out(kWrongClock)) return;
        const std::chrono::sys_time<std::chrono::milliseconds> at{
            std::chrono::milliseconds(time(i))};
        const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(at)};
        add_example(kWrongClock, requests[i].line,
                    fmt::format("{:04}-{:02}-{:02}, {} days {} all others", int{day.year()},
                                unsigned{day.month()}, unsigned{day.day()}, away / kDayMs, where));
    };
    for (std::size_t i = 0; i < first; ++i) drop(i, time(first) - time(i), "before");
    for (std::size_t i = end; i < count; ++i) drop(i, time(i) - time(end - 1), "after");
    const auto at = [&](std::size_t i) {
        return requests.begin() + static_cast<std::ptrdiff_t>(i);
    };
    requests.erase(at(end), requests.end());
    requests.erase(requests.begin(), at(first));
}

void retime(Trace& trace, double rate, double speedup) {
    if (rate <= 0 && speedup <= 0) return;
    if (trace.requests.empty()) return;
    const auto begin = trace.requests.front().time_ms;
    const double longest =
        rate > 0 ? static_cast<double>(trace.requests.size() - 1) * 1000 / rate
                 : static_cast<double>(trace.requests.back().time_ms - begin) / speedup;
    if (!(longest <= static_cast<double>(kLongestSpan.count())))
        throw std::invalid_argument(
            fmt::format("{} {:g} makes the log last longer than a hundred years",
                        rate > 0 ? "--rate" : "--speedup", rate > 0 ? rate : speedup));
    for (std::size_t i = 0; i < trace.requests.size(); ++i) {
        auto& time = trace.requests[i].time_ms;
        time = rate > 0 ? static_cast<std::int64_t>(static_cast<double>(i) * 1000 / rate)
                        : static_cast<std::int64_t>(static_cast<double>(time - begin) / speedup);
    }
    trace.source += rate > 0 ? fmt::format(", at {:g} requests/s", rate)
                             : fmt::format(", {:g} times faster", speedup);
}

bool is_cacheable(std::string_view method, unsigned status) {
    constexpr std::array kStatus{200u, 203u, 300u, 301u, 304u, 410u};
    return method == "GET" && std::find(kStatus.begin(), kStatus.end(), status) != kStatus.end();
}

Trace load_trace(const TraceOptions& options) {
    LineReader reader(options.path);
    std::vector<std::pair<std::uint64_t, std::string>> first;  // with their numbers
    std::string_view line;
    std::uint64_t number = 0;
    while (first.size() < kLinesToDetect && reader.next(line)) {
        ++number;
        if (is_content(line)) first.emplace_back(number, line);
    }
    const auto format = detect(first);
    if (!format) {
        throw std::runtime_error(
            printable(options.path) +
            ": in none of the formats known (tab-separated, Squid access.log, "
            "Common or Combined log, hearsay's JSON, a URL per line)" +
            (first.empty() ? "; it is empty"
                           : "; it begins: " + printable(first.front().second.substr(0, 120))));
    }
    Loader loader(options, *format);
    for (const auto& [at, known] : first) {
        if (!loader.full()) loader.take(known, at);
    }
    while (!loader.full() && reader.next(line)) {
        ++number;
        if (is_content(line)) loader.take(line, number);
    }
    Trace trace = std::move(loader).finish();
    if (trace.requests.empty()) throw std::runtime_error(describe_nothing(trace));
    return trace;
}

}  // namespace measure
