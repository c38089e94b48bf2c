#include "measure/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "measure/trace/line_reader.hpp"
#include "measure/trace/printable.hpp"
#include "measure/trace/target.hpp"

namespace measure {
namespace {

constexpr std::size_t kLinesToDetect = 100;

bool is_content(std::string_view line) {
    return !line.empty() && line.front() != '#';
}

/// The format that most of the first lines are in.
std::optional<LogFormat> detect(const std::vector<std::string>& lines) {
    std::optional<LogFormat> best;
    std::ptrdiff_t best_count = 0;
    for (const LogFormat format :
         {LogFormat::tab_separated, LogFormat::squid, LogFormat::common, LogFormat::json}) {
        LineParser parser(format);
        const auto count = std::count_if(lines.begin(), lines.end(),
                                         [&](const auto& line) { return parser.parse(line); });
        if (count > best_count) {
            best = format;
            best_count = count;
        }
    }
    return best;
}

/// Turns parsed lines into requests, or counts why not.
class Loader {
public:
    Loader(const TraceOptions& options, LogFormat format) : options_(options), parser_(format) {
        trace_.source = options.path == "-" ? "standard input" : printable(options.path);
        trace_.format = format;
    }

    void take(std::string_view line) {
        ++trace_.lines;
        if (const auto why = refuse(line)) ++trace_.skipped[std::string(*why)];
    }
    bool full() const { return trace_.requests.size() >= limit(); }
    Trace finish() && {
        trace_.put_in_order();
        return std::move(trace_);
    }

private:
    std::uint64_t limit() const { return std::min<std::uint64_t>(options_.limit, kMaxRequests); }

    std::optional<std::string_view> refuse(std::string_view line) {
        const auto parsed = parser_.parse(line);
        if (!parsed) return "not a line of this format";
        if (parsed->by_peer) return "a peer's request, which one of a client caused";
        if (parsed->method == "CONNECT") return "CONNECT";
        if (!options_.all && !is_cacheable(parsed->method, parsed->status)) {
            return "no cacheable GET (replay --all sends these too)";
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
        if (const auto why = check_.refuse(url)) return why;
        const auto method = method_index(parsed->method);
        if (!method) return "not an HTTP method";
        trace_.add({parsed->time_ms, client_index(parsed->client),
                    trace_.add_url(url, parsed->bytes), *method});
        return std::nullopt;
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
    std::string out =
        trace.source + ": no request is left of " + std::to_string(trace.lines) + " lines";
    for (const auto& [reason, count] : trace.skipped) {
        out += "\n  " + std::to_string(count) + ": " + reason;
    }
    return out;
}

}  // namespace

std::uint32_t Trace::add_url(std::string_view text, std::uint64_t bytes) {
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
    auto& known = object_bytes[urls[at->second].object];
    if (known == 0) known = std::min(bytes, kMaxObjectBytes);
    return at->second;
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
    std::vector<std::string> first;
    std::string_view line;
    while (first.size() < kLinesToDetect && reader.next(line)) {
        if (is_content(line)) first.emplace_back(line);
    }
    const auto format = detect(first);
    if (!format) {
        throw std::runtime_error(printable(options.path) +
                                 ": in none of the formats known (tab-separated, Squid access.log, "
                                 "Common or Combined log, hearsay's JSON)" +
                                 (first.empty()
                                      ? "; it is empty"
                                      : "; it begins: " + printable(first.front().substr(0, 120))));
    }
    Loader loader(options, *format);
    for (const auto& known : first) {
        if (!loader.full()) loader.take(known);
    }
    while (!loader.full() && reader.next(line)) {
        if (is_content(line)) loader.take(line);
    }
    Trace trace = std::move(loader).finish();
    if (trace.requests.empty()) throw std::runtime_error(describe_nothing(trace));
    return trace;
}

}  // namespace measure
