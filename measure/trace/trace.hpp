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
/// No log is believed more, so that sums of sizes stay numbers.
inline constexpr std::uint64_t kMaxObjectBytes = 1ull << 50;
/// From the first request to the last, so that nanoseconds between them stay numbers: a hundred
/// years.
inline constexpr std::chrono::milliseconds kLongestSpan = std::chrono::hours(24 * 36'525);

/// One request to send.
struct Request {
    std::int64_t time_ms = 0;  ///< never smaller than the one before
    std::uint32_t client = 0;  ///< index into Trace::clients
    std::uint32_t url = 0;     ///< index into Trace::urls
    std::uint8_t method = 0;   ///< index into Trace::methods; 0 = GET, 1 = HEAD
    std::uint32_t line = 0;    ///< of the log, from 1 on; 0 = of none
};
inline constexpr std::uint8_t kGet = 0;
inline constexpr std::uint8_t kHead = 1;

struct Url {
    std::string_view text;     ///< absolute, as logged; lives as long as the Trace
    std::uint32_t object = 0;  ///< index into Trace::object_bytes
};

/// The requests of one log that will be sent, in the order of their times (of equal ones in the
/// log's), with each URL and client kept once.
/// Movable, not copyable (the URLs are views into its own memory).
struct Trace : Reading {
    std::string source;  ///< file name, or what the workload is made of
    bool synthetic = false;
    std::vector<Request> requests;
    std::vector<Url> urls;
    /// Spellings of one target URI (`http://a` and `http://A:80/`) are one object to a cache. The
    /// largest size that the log tells (see SizeTold); 0 = never known.
    std::vector<std::uint64_t> object_bytes;
    std::vector<std::uint64_t> clients;  ///< the numbers that choose a client's proxy
    std::vector<std::string> methods{"GET", "HEAD"};
    std::optional<LogFormat> format;

    Trace() = default;
    Trace(Trace&&) = default;
    Trace& operator=(Trace&&) = default;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Keeps one copy of `text`; of the `bytes` that tell its object's size, the largest is it.
    std::uint32_t add_url(std::string_view text, std::uint64_t bytes,
                          SizeTold told = SizeTold::of_object);
    /// The same for a URL that is new, in no other spelling either, and is not looked for later:
    /// what is made up needs no index, which would take three times what is left.
    std::uint32_t add_new_url(std::string_view text, std::uint64_t bytes);
    /// Appends a request. Where a time may go back, put_in_order() must follow the last.
    void add(Request request) { requests.push_back(request); }
    /// Sorts by time, and counts what was out of order.
    void put_in_order();
    /// Drops the few requests that stand farther from all others than these from each other, as the
    /// clock that they have was wrong; skips them for kWrongClock. Precondition: in order.
    void drop_wrong_clocks();

private:
    void learn_size(std::uint32_t object, std::uint64_t bytes, SizeTold told);

    std::deque<std::string> text_;
    std::unordered_map<std::string_view, std::uint32_t> url_index_;
    std::unordered_map<std::string, std::uint32_t> object_index_;  // by cache key
    std::vector<SizeTold> told_;                                   // what object_bytes come from
    proxy::CacheKey key_;
};

/// Requests [first, end) of a trace; those before `first` have been sent earlier.
struct TracePart {
    std::size_t first = 0, end = std::numeric_limits<std::size_t>::max();
};

struct TraceOptions {
    std::string path;                       ///< "-" = standard input
    std::string site = "http://localhost";  ///< put before URLs that are only a path
    bool all = false;                       ///< every method and status, not only cacheable GETs
    bool https = false;                     ///< https URLs, too: for who only counts with them
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  ///< requests to take
};

/// The requests evenly at so many each second, or the log's own times so many times faster;
/// whichever is not 0. Throws std::invalid_argument when that takes longer than kLongestSpan.
void retime(Trace& trace, double rate, double speedup);

inline constexpr std::string_view kWrongClock =
    "the clock was wrong: farther from all others than these from each other";
inline constexpr std::string_view kQueryStripped =
    "the query was left out of the log, so many pages look like one (Squid's strip_query_terms "
    "off tells them)";

/// True for what a proxy may answer from its cache: GET with 200, 203, 300, 301, 304 or 410.
bool is_cacheable(std::string_view method, unsigned status);

/// Reads a log whose format it finds out itself from the first lines. Clients that are no numbers
/// are numbered 1, 2, ... in order of first appearance. Throws std::runtime_error when the file
/// cannot be read, is in no known format, or holds nothing to send.
Trace load_trace(const TraceOptions&);

}  // namespace measure
