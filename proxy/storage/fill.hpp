#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/live_fields.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/storage/flow_rate.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// A fetch that nobody reads any more goes on when at most this much is missing.
inline constexpr std::uint64_t kNearlyDoneBytes = 1024 * 1024;
/// In any case it has only so long from when the last reader left: be it that no head comes, or
/// that what is nearly done never is.
inline constexpr std::chrono::seconds kAloneAtMost{5};
/// A fetch that renews what is served stale meanwhile: nobody waits for it from the start.
inline constexpr std::chrono::seconds kRefreshAtMost{60};

/// Does a fetch that is being stored go on though nobody reads it? When little is missing, or no
/// more than has come. `length`: of the body, if known; otherwise it may be as much again.
inline bool goes_on_unread(std::uint64_t received, const std::optional<std::uint64_t>& length) {
    if (!length) return received <= kNearlyDoneBytes;
    return *length - std::min(*length, received) <= std::max(received, kNearlyDoneBytes);
}

/// One fetch in progress: a head to come, a body that grows, and everybody who waits for either.
/// The fetching coroutine is its only writer; readers may live on any thread.
///
/// A *shared* fill is being stored: everything stays, readers come and go. A fill that is *not*
/// shared has the readers it had when that was decided and keeps only a window of the body for
/// them.
class Fill {
public:
    enum class Phase { waiting, streaming, complete, failed };
    enum class Source { origin, peer };

    /// An answer as its head tells of it.
    struct Answer {
        std::shared_ptr<const StoredResponse> response;
        bool shared = false;     // on its way into the store
        bool validated = false;  // the response is a stored one that a 304 has made fresh again
        Source source = Source::origin;
        std::string peer;          // node that gave the answer, when source is peer
        std::string server;        // address of the origin that did, or confirmed it by a 304
        std::uint64_t length = 0;  // body length if `length_known`
        bool length_known = false;
        unsigned upstream_status = 0;  // of the last answer from an origin or peer; 0 if none
        StorageVerdict verdict = StorageVerdict::store;  // on its head
        std::shared_ptr<const LiveFields> live;  // for the request that fetched it; may be null
    };

    /// A reader's view at one moment.
    struct State {
        Phase phase = Phase::waiting;
        Answer answer;          // its response is set from `streaming` on
        bool released = false;  // this answer is not for this reader: it fetches for itself
        FetchError error = FetchError::none;
        ParseError malformed{};  // what was, if that is the error and it is known
        /// After an error: the origin is not to be asked again until then, by its own word.
        std::optional<std::chrono::steady_clock::time_point> not_before;
    };

    /// Membership of one reader. Constructed and used on the reader's thread.
    class Reader {
    public:
        Reader(std::shared_ptr<Fill> fill, std::shared_ptr<Wakeup> wakeup, bool leader);
        ~Reader();
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;

        State state() const;
        /// Appends buffers from the reader's position on; they stay valid until consume().
        BodyPiece peek(std::uint64_t max_bytes, std::size_t max_buffers,
                       std::vector<boost::asio::const_buffer>& out) const;
        void consume(std::uint64_t bytes);
        /// When the body will have come so far, at the rate of now; zero if it has, or comes no
        /// more. None: that cannot be told yet.
        std::optional<std::chrono::nanoseconds> time_until(
            std::uint64_t offset, std::chrono::steady_clock::time_point now) const;
        /// Interim heads that came since the last call, as they go out; for the leader alone.
        std::string take_interim();

    private:
        friend class Fill;
        std::shared_ptr<Fill> fill_;
        std::shared_ptr<Wakeup> wakeup_;
        std::size_t index_ = 0;  // among the fill's readers
        std::uint64_t offset_ = 0;
        std::multiset<std::uint64_t>::iterator
            place_;  // once the fill is closed and unless released
        bool leader_;
        bool released_ = false;
    };

    /// `writer` is notified when a window opens or the last reader leaves. `window_bytes`: how far
    /// a fetch may run ahead of its slowest reader when its response is not stored, at most.
    Fill(std::shared_ptr<Wakeup> writer, std::uint64_t window_bytes)
        : window_bytes_(window_bytes), writer_(std::move(writer)) {}

    /// Any thread.
    struct Audience {
        std::size_t readers = 0;                   // now, without those who were released
        std::uint64_t joined = 0;                  // so many ever came
        std::chrono::nanoseconds alone_at_most{};  // without readers it is to end after this

        Audience& operator+=(const Audience& more) {
            readers += more.readers;
            joined += more.joined;
            alone_at_most = std::max(alone_at_most, more.alone_at_most);
            return *this;
        }
    };
    Audience audience() const;
    /// What it brings, once the head is there; null before, and when no head has come.
    std::shared_ptr<const StoredResponse> coming() const;
    /// Somebody is behind by more than goes out at once.
    bool is_read_slowly() const;

    // The writer's side.
    /// An interim head, before begin(); it goes to the leader, if that still reads. The caller
    /// bounds how many there are.
    void interim(std::string_view head);
    void begin(Answer answer);
    // From here on after begin().
    /// Bytes that append() can take now without a new block.
    std::size_t room() const;
    std::size_t next_block_bytes() const;
    void add_block(std::size_t capacity, Charge charge);
    void append(std::string_view data);  // at most room() bytes
    /// For the rate: so many bytes were received since the last call; the first has none.
    void flowed(std::uint64_t bytes, std::chrono::steady_clock::time_point now);
    /// The peer that gave the answer broke off: what comes from here on is the origin's.
    void goes_on_at_origin();
    /// The body proved too large to store: from here on only the readers at hand, in a window.
    void stop_sharing();
    /// How much of the body is there that the slowest reader has not taken.
    std::uint64_t ahead() const;
    std::uint64_t window_bytes() const { return window_bytes_; }
    /// False when nobody reads and what is missing is not nearly done.
    bool wanted() const;
    /// From here on it goes on without readers, however much is missing, as long as it is being
    /// stored and for `at_most`.
    void keep(std::chrono::nanoseconds at_most = kAloneAtMost);
    /// Is told with the error that is about to end it.
    void not_again_before(std::chrono::steady_clock::time_point time);
    /// Ends the body. `stored`: the store has taken it.
    void complete(bool stored);
    void fail(FetchError error, unsigned upstream_status = 0, ParseError malformed = {});
    std::uint64_t received() const;

    // For a peer's question: the state without joining.
    State state() const;

private:
    State state_for(const Reader* reader) const;  // mutex held
    void wake_readers();                          // mutex held
    void release(Reader& reader);                 // mutex held
    void close();                                 // mutex held
    void let_go();                                // mutex held
    std::uint64_t slowest() const;                // mutex held

    const std::uint64_t window_bytes_;
    mutable std::mutex mutex_;
    Phase phase_ = Phase::waiting;
    FlowRate rate_;
    Answer answer_;
    FetchError error_ = FetchError::none;
    ParseError malformed_{};
    std::optional<std::chrono::steady_clock::time_point> not_before_;
    std::uint64_t peer_end_ = std::numeric_limits<std::uint64_t>::max();  // see goes_on_at_origin()
    std::string interim_;                                                 // not yet taken
    bool kept_ = false;
    std::chrono::nanoseconds alone_at_most_ = kAloneAtMost;
    bool closed_ = false;  // not shared any more: newcomers are released
    std::vector<Reader*> readers_;
    std::size_t released_ = 0;             // of these
    std::multiset<std::uint64_t> places_;  // once closed: how far those have come who still read
    std::uint64_t joined_ = 0;
    std::shared_ptr<Wakeup> writer_;
};

}  // namespace proxy
