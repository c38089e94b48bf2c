#pragma once

#include "proxy/config/config.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/telemetry/log_sink.hpp"
#include "proxy/telemetry/peer_request_log.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/telemetry/trace_context.hpp"

#include <atomic>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace proxy {

/// One answered request. Views are valid during the call.
struct AccessRecord {
    struct Request {
        std::string_view client;  // address without port
        std::string_view user;    // that has proven itself, or empty
        Role role = Role::client;
        std::string_view method;  // as received
        std::string_view url;     // target URI, or the raw target of a refused request
        unsigned version = 11;    // 10, 11 or 20
        std::string_view referer, user_agent;
        TraceId trace{};             // zeros: the request has none
        bool intercepted = false;    // by forward.intercept: the request, or the CONNECT around it
        bool client_reload = false;  // the client's own directives forced validation
    };
    struct Response {
        unsigned status = 0;      // 0: the client left first
        std::uint64_t bytes = 0;  // sent of the body
        std::uint64_t sent = 0;   // sent of the body and the head
        std::string_view content_type;
        std::string_view cache_status;  // this node's member of Cache-Status, as sent
        bool rewritten = false;         // it has the addresses of a mirror
        bool aborted = false;           // it broke off: the client left, or a source failed
    };
    /// How the node came to the response.
    struct Handling {
        Outcome outcome = Outcome::error;
        CacheResult cache = CacheResult::bypass;
        Source source = Source::none;
        // The peer that gave the answer or a part of it, else the last peer that got a peer
        // request. In the line of a peer request: its sender.
        std::string_view peer;
        PeerVerdict peer_verdict = PeerVerdict::not_asked;
        const PeerRequestLog* peers_asked = nullptr;
        std::string_view origin;  // address of the origin that answered: `10.0.0.7:8080`, or empty
        unsigned redirects = 0;   // that this node followed
        bool validated = false;   // a 304 has confirmed the stored response
        std::string_view rule;    // name of the entry of `rules` that applied, or empty
        std::string_view blocklist;  // file and line of the list that has the target, or empty
    };

    std::chrono::system_clock::time_point ts;  // of the complete head of the request
    std::chrono::nanoseconds duration{0};      // from `ts` to the last byte of the answer
    Request request;
    Response response;
    Handling handling;
};

// Each function appends one line with its newline. Bytes from outside are escaped, so they cannot
// end a line or forge a field: `%xx` in squid, `\xhh` in combined. JSON keeps UTF-8, and has
// `\u00xx` for control characters and `\uefxx` for other bytes xx.

/// json: an object with the keys ts (RFC 3339, UTC, milliseconds), role, client, method, url,
/// status, bytes, dur_ms, outcome, cache, source, protocol, cache_status (as sent) and, if they
/// apply: user (who has proven itself), peer and peer_verdict (after a peer request; in the line of
/// a peer request, peer is its sender), peers_asked (after several peer requests: objects with peer
/// and verdict, in order), origin (the address that answered), rule (its name), trace_id, redirects
/// (how many were followed), rewritten (true: for a mirror), blocklist (file and line), intercepted
/// (true), aborted (true).
void append_json_line(std::string& out, const AccessRecord& record);
/// Squid's native access.log: time elapsed client result/status bytes method URL user
/// hierarchy/server type. The bytes are `sent`; the server is an origin's address or a peer's name.
/// The user is `peer:NAME` in the line of a peer request, and `-` for a client without one.
void append_squid_line(std::string& out, const AccessRecord& record);
/// Apache's combined format in UTC, with the origin's address as last field. The user is as in
/// Squid's format.
void append_combined_line(std::string& out, const AccessRecord& record);
void append_access_line(std::string& out, AccessFormat format, const AccessRecord& record);

/// The access log of a node. The caller's thread formats a line, and a thread of the log writes it,
/// so workers are independent of disks and pipes. Lines beyond `max_pending` waiting bytes are
/// dropped and counted. Lines that the system refuses (a full disk, a pipe that is not read) are
/// counted as well, and the error log has the reason. The writer waits for a slow reader; at the
/// end of the log, or of a destination, it waits for kPatience at most. Any thread.
class AccessLog {
public:
    static constexpr std::size_t kMaxPendingBytes = 8 << 20;
    static constexpr std::chrono::seconds kPatience{1};

    /// Opens the destination: off, stdout, or a file to append to. Throws
    /// boost::system::system_error if the file cannot be opened.
    explicit AccessLog(const LogConfig& config, std::size_t max_pending = kMaxPendingBytes);
    /// Writes the pending lines.
    ~AccessLog();
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    bool enabled() const { return in_effect().enabled; }
    /// Writes the line of a peer request if log.peers is set.
    void write(const AccessRecord& record);

    /// Called on the writer's thread, with the reason for a failure, or with an empty string.
    using Reopened = std::function<void(const std::string& why_not)>;
    /// Opens the file again, after it was renamed: earlier lines go to the old file, later ones to
    /// the new one. After a failure the old file stays in use. The error log gets the result, and
    /// so does `done`. A log that is off calls `done` at once.
    void reopen(Reopened done = nullptr);
    /// Changes destination or format: earlier lines go to the old one, later ones to the new one.
    /// Returns an error, and changes nothing, if the destination cannot be opened, or if the old
    /// one is so slow that kMaxChanges wait already.
    boost::system::error_code reconfigure(const LogConfig& config) {
        return reconfigure(config, LogSink(config.access));
    }
    /// The same with a destination that another thread has opened, because a disk may hang.
    boost::system::error_code reconfigure(const LogConfig& config, LogSink opened);
    static constexpr std::size_t kMaxChanges = 16;

    /// Waits until the system has all lines that were written so far.
    void flush();

    std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
    /// Lines that the system has refused.
    std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

private:
    /// Small enough for an atomic without a lock.
    struct alignas(std::uint32_t) Settings {
        explicit Settings(const LogConfig& config)
            : enabled(config.access != "off"), peers(config.peers), format(config.format) {}

        bool enabled, peers;
        AccessFormat format;
    };
    static_assert(std::atomic<Settings>::is_always_lock_free);

    /// A change after the first `at` pending bytes. Without `sink`: the file is opened again.
    struct Change {
        std::size_t at = 0;
        std::optional<LogSink> sink;
        std::vector<Reopened> waiters = {};
    };

    using Clock = std::chrono::steady_clock;

    Settings in_effect() const { return settings_.load(std::memory_order_relaxed); }
    void run();
    void put(std::string_view lines);
    /// Starts the time that the lines being written have, because a change waits for them. With the
    /// mutex.
    void hurry();
    void make(Change& change);
    /// Returns the reason for a failure, or an empty string.
    std::string open_anew();
    /// Writes to the error log about the destination `path`.
    void log_trouble(const char* what, const std::string& path,
                     const boost::system::error_code& error);

    const std::size_t max_pending_;
    std::atomic<Settings> settings_;  // written with the mutex
    LogSink sink_;                    // writer thread only, once that runs
    RateLimitedLog trouble_;          // writer thread only
    std::atomic<std::uint64_t> dropped_{0}, failed_{0};

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::string pending_;
    std::vector<Change> changes_;  // in order
    bool writing_ = false, stop_ = false;
    std::atomic<Clock::time_point> give_up_{
        Clock::time_point::max()};  // the writer's deadline; see hurry()
    std::thread thread_;
};

}  // namespace proxy
