#pragma once

#include "proxy/config/config.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/telemetry/log_sink.hpp"
#include "proxy/telemetry/peers_asked.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"

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

/// One answered request. Views need only last until the call returns.
struct AccessRecord {
    std::chrono::system_clock::time_point ts;  // when the request's head was complete
    std::chrono::nanoseconds duration{0};      // from then to the last byte of the answer
    std::string_view client;                   // address without port
    std::string_view method;                   // as received
    std::string_view url;                      // target URI, or the raw target if it was refused
    unsigned version = 11;                     // 10 or 11
    unsigned status = 0;                       // 0: the client left before an answer
    std::uint64_t bytes = 0;                   // of the answer's body that were sent
    std::uint64_t sent = 0;                    // of the answer, with its head
    Outcome outcome = Outcome::error;
    CacheResult cache = CacheResult::bypass;
    Source source = Source::none;
    // The node that gave the answer, or a part of it; else the last that was asked, if any; of a
    // peer's question, who asks.
    std::string_view peer;
    PeerVerdict peer_verdict = PeerVerdict::not_asked;
    const PeersAsked* peers_asked = nullptr;
    std::string_view origin;  // address of the one that answered, `10.0.0.7:8080`; empty: none did
    std::string_view content_type, referer, user_agent;
    std::string_view cache_status;  // this node's member of Cache-Status, as sent
    bool validated = false;         // the stored response was confirmed by a 304
    bool client_reload = false;     // the client's own directives forced validation
    bool aborted = false;           // the answer ended before its end: the client left, or the
                                    // rest could not be had
    Role role = Role::client;       // who asked
};

/// Each appends one line with its newline. Bytes from outside cannot end a line or forge a field:
/// they come escaped (`%xx` in squid, `\xhh` in combined; in JSON `\u00xx` for control characters
/// and `\uefxx` for bytes xx that are no UTF-8, which otherwise stays as it is).
///
/// json: an object with keys ts (RFC 3339, UTC, milliseconds), role, client, method, url, status,
/// bytes, dur_ms, outcome, cache, source, peer, peer_verdict (the last two only when a peer was
/// asked; of a peer's question, peer is who asks), peers_asked (only when it was more than one
/// question: an array of objects with peer and verdict, in order), origin (the address of the one
/// that answered, if one did), cache_status (what was sent), aborted (only when true).
void append_json_line(std::string& out, const AccessRecord& record);
/// Squid's native access.log: time elapsed client result/status bytes method URL - hierarchy/server
/// type; the bytes are those of `sent`, the server an origin's address or a peer's name. The user
/// is `peer:NAME` in the line of a peer's request, and else `-`.
void append_squid_line(std::string& out, const AccessRecord& record);
/// Apache's combined format and, as a last field, the origin's address; time in UTC. The user is as
/// in Squid's format.
void append_combined_line(std::string& out, const AccessRecord& record);
void append_access_line(std::string& out, AccessFormat format, const AccessRecord& record);

/// The access log of a node: lines are formatted by the caller's thread and written by one of its
/// own, so that no worker ever waits for a disk or a pipe. When more than `max_pending` bytes wait,
/// lines are dropped and counted; so are those that the system refuses (a full disk, a pipe nobody
/// reads), and the error log says why. A reader that takes nothing is waited for until the end, or
/// another destination, has been waiting for kPatience. All members may be called from any thread.
class AccessLog {
public:
    static constexpr std::size_t kMaxPendingBytes = 8 << 20;
    static constexpr std::chrono::seconds kPatience{1};

    /// `destination`: off, stdout, or a file, which is appended to. Throws
    /// boost::system::system_error when the file cannot be opened.
    explicit AccessLog(const LogConfig& config, std::size_t max_pending = kMaxPendingBytes);
    /// Writes what is pending.
    ~AccessLog();
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
    /// Lines of peers' questions are written if the configuration wants them.
    void write(const AccessRecord& record);

    /// Is told on the writer's thread why the file cannot be opened; empty: it is open, or there is
    /// none.
    using Reopened = std::function<void(const std::string& why_not)>;
    /// Opens the file anew (after it was renamed): lines written before go to the old one, lines
    /// written after to the new one. If that fails the old file stays in use. The error log says
    /// what came of it, and so does `done`, which a log that is off calls at once.
    void reopen(Reopened done = nullptr);
    /// Takes another destination or format: lines written before go to the old one, lines written
    /// after to the new one. Nothing changes when it cannot be opened, or when the old one is so
    /// slow that kMaxChanges wait already; then the error says so.
    boost::system::error_code reconfigure(const LogConfig& config) {
        return reconfigure(config, LogSink(config.access));
    }
    /// The same with what was opened elsewhere, as a disk may hang.
    boost::system::error_code reconfigure(const LogConfig& config, LogSink opened);
    static constexpr std::size_t kMaxChanges = 16;

    /// Waits until everything written so far has been handed to the system.
    void flush();

    std::uint64_t lines() const { return lines_.load(std::memory_order_relaxed); }
    std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
    /// Lines the system refused.
    std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

private:
    /// What happens after the first `at` pending bytes; without `sink`: the file is opened anew.
    struct Change {
        std::size_t at = 0;
        std::optional<LogSink> sink;
        std::vector<Reopened> told = {};
    };

    using Clock = std::chrono::steady_clock;

    void run();
    void put(std::string_view lines);
    /// Something waits behind the lines that are being written. Under the mutex.
    void hurry();
    void make(Change& change);
    /// Returns why the file cannot be opened, or nothing.
    std::string open_anew();
    /// Tells the error log about the destination `path`.
    void tell(const char* what, const std::string& path, const boost::system::error_code& error);

    const std::size_t max_pending_;
    std::atomic<bool> enabled_{false};  // changes under the mutex only, as does the format
    std::atomic<AccessFormat> format_;
    std::atomic<bool> peers_;
    LogSink sink_;            // writer thread only, once that runs
    RateLimitedLog trouble_;  // writer thread only
    std::atomic<std::uint64_t> lines_{0}, dropped_{0}, failed_{0};

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::string pending_;
    std::vector<Change> changes_;  // in order
    bool writing_ = false, stop_ = false;
    std::atomic<Clock::time_point> give_up_{Clock::time_point::max()};  // on a reader; see hurry()
    std::thread thread_;
};

}  // namespace proxy
