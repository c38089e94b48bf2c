#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wakeup.hpp"
#include "base/net/address_text.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/live_fields.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/flow_rate.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/span.hpp"

namespace proxy {

/// A fetch without readers continues if at most this much is missing.
inline constexpr std::uint64_t kNearlyDoneBytes = 1024 * 1024;
/// A fetch ends this long after its last reader left, whether its head has yet to come or the body
/// is nearly complete.
inline constexpr std::chrono::seconds kAloneAtMost{5};
/// The same limit for a fetch that renews a response in the background, and so has zero readers.
inline constexpr std::chrono::seconds kRefreshAtMost{60};

/// A fetch into the store continues without readers: little is missing, or at most as much as has
/// come. `length` is that of the body. A body of unknown length may bring as much again.
inline bool goes_on_unread(std::uint64_t received, const std::optional<std::uint64_t>& length) {
    if (!length) return received <= kNearlyDoneBytes;
    return *length - std::min(*length, received) <= std::max(received, kNearlyDoneBytes);
}

/// The time for which an unstored body stands still because its window is full, while readers have
/// taken all that came and want more.
class Standstill {
public:
    using Time = std::chrono::steady_clock::time_point;

    void begin(Time now) {
        stands_still_ = true;
        note(now);
    }
    /// No reader wants more after it. False if the body did not stand still.
    bool end(Time now) {
        if (!std::exchange(stands_still_, false)) return false;
        want_more_ = 0;
        note(now);
        return true;
    }
    void one_wants_more(Time now) {
        ++want_more_;
        note(now);
    }
    void one_has_left(Time now) {
        --want_more_;
        note(now);
    }
    std::chrono::nanoseconds waited(Time now) const {
        return waited_ + (since_ ? now - *since_ : std::chrono::nanoseconds(0));
    }

private:
    void note(Time now);

    bool stands_still_ = false;
    std::size_t want_more_ = 0;          // readers
    std::chrono::nanoseconds waited_{};  // up to since_
    std::optional<Time> since_;
};

/// A response that is still arriving: a head to come, a growing body, and all readers that wait for
/// either. The fetching coroutine is its only writer; readers may be on any thread.
///
/// A *shared* fill goes into the store: all bytes stay, and readers come and go. An unshared fill
/// serves its leader, or the readers of that moment, and keeps a window of the body for them. A
/// mutex guards all state; wakeups are notified under it.
class Fill {
public:
    enum class Phase { waiting, streaming, complete, failed };
    enum class From { origin, peer };

    /// The incoming response, as its head describes it.
    struct Incoming {
        std::shared_ptr<const StoredResponse> response;
        bool shared = false;     // on its way into the store
        bool awaited = false;    // not shared, but for all who wait for it already
        bool validated = false;  // a 304 has renewed a stored response
        bool stands_in = false;  // a peer's stale copy, in place of an origin in trouble
        bool goes_on = false;    // the peer broke off, and the rest comes from the origin
        From from = From::origin;
        std::string peer;          // node that sent the response, when `from` is peer
        base::AddressText server;  // address of the origin that did, or confirmed it by a 304
        unsigned redirects = 0;    // that were followed to it
        std::uint64_t length = 0;  // body length if `length_known`
        bool length_known = false;
        unsigned upstream_status = 0;  // of the last answer from an origin or peer; 0 if none
        StorageVerdict verdict = StorageVerdict::store;  // on its head
        std::shared_ptr<const LiveFields> live;  // for the request that fetched it; may be null

        /// The next bytes come from the origin. Otherwise nobody else may wait for them, since two
        /// nodes could wait for each other.
        bool fed_by_origin() const { return from == From::origin || goes_on; }
    };

    struct Failure {
        FetchError error = FetchError::none;
        ParseError malformed{};  // the malformed part, if it is known
        /// The origin forbids further requests until then.
        std::optional<std::chrono::steady_clock::time_point> not_before;
    };
    /// The state of the fill for one reader.
    struct State : Failure {
        Phase phase = Phase::waiting;
        Incoming incoming;      // its response is set from `streaming` on
        bool released = false;  // the answer is for others: this reader fetches for itself
    };

    /// A reader of the fill, for its lifetime. Constructed and used on the thread of the reader.
    class Reader {
    public:
        Reader(std::shared_ptr<Fill> fill, std::shared_ptr<base::Wakeup> wakeup, bool leader);
        ~Reader();
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;

        State state() const;
        /// Appends buffers from the reader's position on; they stay valid until consume().
        BodyPiece peek(std::uint64_t max_bytes, std::size_t max_buffers,
                       std::vector<boost::asio::const_buffer>& out) const;
        void consume(std::uint64_t bytes);
        /// The body is not stored, still comes, and has other readers. So a slow one among them may
        /// let the others wait.
        bool shares_window() const;
        /// The client has taken all that came, and waits for the next bytes.
        void wants_more(std::chrono::steady_clock::time_point now);
        /// The time so far in which a reader wanted more, and the body stood still because of
        /// slower readers.
        std::chrono::nanoseconds others_waited(std::chrono::steady_clock::time_point now) const;
        /// The time until the body has reached `offset`, at the present rate. Zero if it has, or if
        /// the fill has ended. Empty if the rate is unknown.
        std::optional<std::chrono::nanoseconds> time_until(
            std::uint64_t offset, std::chrono::steady_clock::time_point now) const;
        /// The interim responses that came since the last call, for the leader alone.
        std::vector<InterimResponse> take_interim();

    private:
        friend class Fill;
        std::shared_ptr<Fill> fill_;
        std::shared_ptr<base::Wakeup> wakeup_;
        std::size_t index_ = 0;  // among the fill's readers
        std::uint64_t offset_ = 0;
        std::multiset<std::uint64_t>::iterator
            position_;  // once the fill is closed and unless released
        bool leader_;
        bool released_ = false;
        bool wants_more_ = false;
    };

    /// `writer` is notified when a window opens or the last reader leaves. `window_bytes` limits
    /// the distance of an unstored body to its slowest reader.
    Fill(std::shared_ptr<base::Wakeup> writer, std::uint64_t window_bytes)
        : window_bytes_(window_bytes), writer_(std::move(writer)) {}

    /// The context of the request that leads, in a sampled trace; else invalid. Set before others
    /// can see the fill. Any thread.
    const TraceContext& leader() const { return leader_; }
    void led_by(const RequestTrace& trace) {
        if (trace.spans) leader_ = trace.context;
    }

    /// Any thread.
    struct Audience {
        std::size_t readers = 0;                   // now, apart from released ones
        std::uint64_t joined = 0;                  // since the start
        std::chrono::nanoseconds alone_at_most{};  // limit without readers

        Audience& operator+=(const Audience& more) {
            readers += more.readers;
            joined += more.joined;
            alone_at_most = std::max(alone_at_most, more.alone_at_most);
            return *this;
        }
    };
    Audience audience() const;
    /// The response, once its head has come; null before.
    std::shared_ptr<const StoredResponse> coming() const;
    /// A reader is behind by more than one piece.
    bool is_read_slowly() const;

    // The writer's side.
    /// An interim response, before begin(); it goes to the leader, if that still reads. The caller
    /// bounds how many there are.
    void interim(InterimResponse response);
    /// Who is to send the response, before begin(). Nobody may wait for a fill of this node that
    /// itself waits for a peer's, since two nodes could wait for each other.
    void expect(From from);
    void begin(Incoming incoming);
    // The functions below require begin().
    /// Bytes that append() takes before the next add_block().
    std::size_t room() const;
    std::size_t next_block_bytes() const;
    void add_block(std::size_t capacity, base::Charge charge);
    void append(std::string_view data);  // at most room() bytes
    /// Notes bytes that were received since the last call, for the rate. 0 at the first call.
    void flowed(std::uint64_t bytes, std::chrono::steady_clock::time_point now);
    /// The peer broke off. The following bytes are those of the origin.
    void goes_on_at_origin();
    /// The body is too large for the store. From here on only the present readers read, in a
    /// window.
    void stop_sharing();
    /// The bytes that the slowest reader has yet to take.
    std::uint64_t ahead() const;
    std::uint64_t window_bytes() const { return window_bytes_; }
    /// The window is full: the body waits for its readers, until move_on().
    void stand_still(std::chrono::steady_clock::time_point now);
    /// Ends that.
    void move_on(std::chrono::steady_clock::time_point now);
    /// A reader is there, or the fetch may continue by itself.
    bool wanted() const;
    /// Lets the fetch continue without readers, however much is missing, while it goes into the
    /// store and for `at_most`. A body of more than `most_bytes` ends as if it were not kept.
    void keep(std::chrono::nanoseconds at_most = kAloneAtMost,
              std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max());
    /// The time that readers learn together with the following error.
    void not_again_before(std::chrono::steady_clock::time_point time);
    /// Ends the body. `stored`: the store has taken it.
    void complete(bool stored);
    void fail(FetchError error, unsigned upstream_status = 0, ParseError malformed = {});
    std::uint64_t received() const;

    // The state for a peer request, which only looks.
    State state() const;

private:
    /// All readers. Once the fill is closed, it is no longer shared: later readers are released,
    /// and the positions of the others limit the window.
    class Readers {
    public:
        void enter(Reader& reader);
        void leave(Reader& reader);
        void release(Reader& reader);
        void close();
        bool closed() const { return closed_; }
        /// The reader has another offset. True if it was the slowest.
        bool move(Reader& reader);
        /// The offset of the slowest, at most `size`. Precondition: the fill is closed.
        std::uint64_t slowest(std::uint64_t size) const;

        const auto& all() const { return all_; }
        std::size_t present() const { return all_.size() - released_; }
        std::size_t in_window() const { return positions_.size(); }
        std::uint64_t joined() const { return joined_; }

    private:
        bool closed_ = false;
        boost::container::small_vector<Reader*, 2> all_;
        std::size_t released_ = 0;  // of all_
        std::multiset<std::uint64_t> positions_;
        std::uint64_t joined_ = 0;
    };

    // Under the mutex.
    State state_for(const Reader* reader) const;
    void wake_readers();
    void let_go();
    std::uint64_t slowest() const;

    const std::uint64_t window_bytes_;
    TraceContext leader_;
    mutable std::mutex mutex_;
    Phase phase_ = Phase::waiting;
    FlowRate rate_;
    Incoming incoming_;
    Failure failure_;
    std::uint64_t peer_end_ = std::numeric_limits<std::uint64_t>::max();  // see goes_on_at_origin()
    std::vector<InterimResponse> interim_;                                // not yet taken
    std::optional<std::uint64_t> kept_bytes_;                             // of keep()
    std::chrono::nanoseconds alone_at_most_ = kAloneAtMost;
    Readers readers_;
    Standstill standstill_;
    std::shared_ptr<base::Wakeup> writer_;
};

}  // namespace proxy
