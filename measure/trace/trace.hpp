#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "measure/trace/log_line.hpp"
#include "measure/trace/reading.hpp"
#include "proxy/http/cache_key.hpp"

namespace measure {

inline constexpr std::size_t kMaxRequests = 1u << 28;  ///< 24 bytes each in memory
inline constexpr std::size_t kMaxMethods = 64;
/// Larger sizes in a log are ignored, so sums of sizes fit into 64 bits.
inline constexpr std::uint64_t kMaxObjectBytes = 1ull << 50;
/// The longest time from the first request to the last: a hundred years, so that nanoseconds
/// between them fit into 64 bits.
inline constexpr std::chrono::milliseconds kLongestSpan = std::chrono::hours(24 * 36'525);

/// One request to send.
struct LoggedRequest {
    std::int64_t time_ms = 0;  ///< at least the time of the request before
    std::uint32_t client = 0;  ///< index into Trace::clients
    std::uint32_t url = 0;     ///< index into Trace::urls
    std::uint8_t method = 0;   ///< index into Trace::methods; 0 = GET, 1 = HEAD
    std::uint32_t line = 0;    ///< line of the log, counted from 1; 0 for made-up requests
};
inline constexpr std::uint8_t kGet = 0;
inline constexpr std::uint8_t kHead = 1;

struct Url {
    std::string_view text;     ///< absolute, as logged; valid as long as the Trace
    std::uint32_t object = 0;  ///< index into Trace::object_bytes
};

/// The requests of one log that will be sent, in the order of their times; requests of one time
/// keep the order of the log. Each URL and client is stored once. Movable; copying is disabled
/// because the URLs are views into the object's own memory.
struct Trace : Reading {
    std::string source;  ///< file name, or description of the made-up workload
    bool synthetic = false;
    std::vector<LoggedRequest> requests;
    std::vector<Url> urls;
    /// Size of each object in bytes: the largest that the log states (see LoggedSize), 0 if
    /// unknown. Spellings of one target URI (`http://a` and `http://A:80/`) are one object, as they
    /// are to a cache.
    std::vector<std::uint64_t> object_bytes;
    std::vector<std::uint64_t> clients;  ///< numbers that choose a client's proxy
    std::vector<std::string> methods{"GET", "HEAD"};
    std::optional<LogFormat> format;

    Trace() = default;
    Trace(Trace&&) = default;
    Trace& operator=(Trace&&) = default;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Stores `text` once. The largest of the `bytes` that state its object's size becomes the
    /// size.
    std::uint32_t add_url(std::string_view text, std::uint64_t bytes,
                          LoggedSize logged = LoggedSize::of_object);
    /// Stores a new URL with a single spelling that is never looked up. Made-up workloads use it
    /// to save the index, which would take three times the memory of the rest.
    std::uint32_t add_new_url(std::string_view text, std::uint64_t bytes);
    /// Appends a request. If times may decrease, call put_in_order() after the last one.
    void add(LoggedRequest request) { requests.push_back(request); }
    /// Sorts by time, and counts the requests that were out of order.
    void put_in_order();
    /// Drops the few requests whose clock was wrong: those farther from all others than from each
    /// other. Counts them as left out for kWrongClock. Precondition: the requests are in order.
    void drop_wrong_clocks();

private:
    void learn_size(std::uint32_t object, std::uint64_t bytes, LoggedSize logged);

    std::deque<std::string> text_;
    std::unordered_map<std::string_view, std::uint32_t> url_index_;
    std::unordered_map<std::string, std::uint32_t> object_index_;  // by cache key
    std::vector<LoggedSize> size_sources_;                         // source of object_bytes
    proxy::CacheKey key_;
};

/// Requests [first, end) of a trace. The requests before `first` were sent earlier.
struct TracePart {
    std::size_t first = 0, end = std::numeric_limits<std::size_t>::max();
};

struct TraceOptions {
    std::string path;                       ///< "-" = standard input
    std::string site = "http://localhost";  ///< prefix of URLs that are only a path
    bool all = false;    ///< every method and status; otherwise cacheable GETs alone
    bool https = false;  ///< accept https URLs; for simulations, which only count
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  ///< most requests to take
};

/// Changes the times of the requests. With `rate` above 0, requests follow evenly, so many per
/// second. With `speedup` above 0, the log's own times are divided by it. Throws
/// std::invalid_argument if the result spans more than kLongestSpan.
void retime(Trace& trace, double rate, double speedup);

inline constexpr std::string_view kWrongClock =
    "the clock was wrong: the time is farther from all others than they are from each other";
inline constexpr std::string_view kQueryStripped =
    "the log omits the query, so many pages look like one (set Squid's strip_query_terms "
    "off)";

/// Returns true for requests that a cache may answer: GET with 200, 203, 300, 301, 304 or 410.
bool is_cacheable(std::string_view method, unsigned status);

/// Reads a log and detects its format from the first lines. Clients that lack a number are numbered
/// 1, 2, ... in order of first appearance. Throws std::runtime_error if the file cannot be read,
/// has an unknown format, or contains no request to send.
Trace load_trace(const TraceOptions&);

}  // namespace measure
