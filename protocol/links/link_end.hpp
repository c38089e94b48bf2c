#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "base/async/error.hpp"
#include "protocol/publishing/link_counters.hpp"
#include "protocol/wire/error.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// The deadline of a hello. Each byte of the other end extends it, because that end works on the
/// hello, if slowly: many nodes that start with little CPU time would otherwise repeat their hellos
/// for ever. A silent end has `patience`, and one that sends a byte now and then kLongestHello
/// times as much.
class HelloDeadline {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    static constexpr int kLongestHello = 5;

    HelloDeadline(std::chrono::nanoseconds patience, TimePoint now)
        : patience_(patience), latest_(now + kLongestHello * patience), at_(now + patience) {}

    /// Bytes have arrived.
    void heard(TimePoint now) {
        is_silent_ = false;
        at_ = std::max(at_, std::min(now + patience_, latest_));
    }
    TimePoint at() const { return at_; }
    bool is_silent() const { return is_silent_; }

private:
    std::chrono::nanoseconds patience_;
    TimePoint latest_, at_;
    bool is_silent_ = true;
};

/// One end of one link, from the first message of the hello to the last. It decides which messages
/// to send, how received messages change the state, and when silence ends the link. It is a state
/// machine over (message, now). Its driver (Link, a test or a simulator) passes received messages
/// in, sends the messages that next() returns, and ends the link when over() returns a reason. One
/// thread.
class LinkEnd {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    /// A message to send. Messages of the hello go out without a tag.
    using Said = std::variant<HelloMessage, Message>;
    struct TagKeys {
        LinkKey sending, receiving;
    };

    LinkEnd() = default;
    LinkEnd(const LinkEnd&) = delete;
    LinkEnd& operator=(const LinkEnd&) = delete;
    virtual ~LinkEnd() = default;

    /// Takes a message of the hello, or the error of a malformed one.
    virtual void on_hello(const base::Result<HelloMessage>& message, TimePoint now) = 0;
    /// Takes a message with a good tag. The bytes that it views are used during the call only.
    virtual void on_message(const Message& message, TimePoint now) = 0;
    /// Returns the next message to send, if any. Its payload stays valid until the next call.
    virtual std::optional<Said> next(TimePoint now) = 0;
    /// The time of the next message. The driver asks after each message and each next(), and is
    /// woken when the time becomes earlier.
    virtual TimePoint due() const = 0;

    /// The keys of both directions. From here on received messages are tagged, except for a refusal
    /// during the hello.
    const std::optional<TagKeys>& tags() const { return tags_; }
    /// The hello is over, so messages may be long.
    bool greeted() const { return greeted_; }
    /// Every message is sent; the link ends when the other end has read it.
    virtual bool finished() const { return false; }

    /// Silence ends the link at this time, for this reason.
    struct Limit {
        TimePoint at;
        Error why;
    };
    virtual Limit limit() const = 0;
    /// Returns the reason to end the link now. Messages that next() still returns are sent before.
    std::optional<boost::system::error_code> over(TimePoint now) const {
        if (ended_) return ended_;
        const auto until = limit();
        if (now >= until.at) return make_error_code(until.why);
        return std::nullopt;
    }

    /// Ends the link at once and drops unsent messages. The first reason counts.
    void close(boost::system::error_code reason) {
        if (ended_ && closed_) return;
        if (!ended_) ended_ = reason;
        closed_ = true;
        wake();
    }
    bool closed() const { return closed_; }
    /// Received messages are ignored from now on.
    bool ended() const { return ended_.has_value(); }

    /// The connection is encrypted. The driver says so before the first message.
    bool encrypted() const { return encrypted_; }
    void set_encrypted(bool encrypted) { encrypted_ = encrypted; }

    /// Bytes of the hello have arrived, or of the TLS handshake before it.
    virtual void heard_in_hello(TimePoint) {}

    /// The counters for bytes of this connection.
    virtual LinkCounters& traffic() = 0;

    /// The driver, while it runs the link.
    class Driver {
    public:
        /// next(), due() or over() may return something else now.
        virtual void woken() = 0;

    protected:
        ~Driver() = default;
    };
    void set_driver(Driver* driver) { driver_ = driver; }
    /// Wakes the driver, after a change of the next message or of the end.
    void wake() {
        if (driver_ != nullptr) driver_->woken();
    }

protected:
    /// Ends the link after the messages that next() still returns.
    void end(boost::system::error_code reason) {
        if (!ended_) ended_ = reason;
    }
    void secure(const LinkKey& sending, const LinkKey& receiving) {
        tags_.emplace(TagKeys{sending, receiving});
    }
    void welcomed() { greeted_ = true; }

private:
    std::optional<boost::system::error_code> ended_;
    bool closed_ = false, greeted_ = false, encrypted_ = false;
    std::optional<TagKeys> tags_;
    Driver* driver_ = nullptr;
};

}  // namespace protocol
