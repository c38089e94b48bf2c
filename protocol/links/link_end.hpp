#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "protocol/net/error.hpp"
#include "protocol/publishing/link_counters.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// One end of one link, from the first message of the hello to the last: what it says and in which
/// order, what it makes of what it hears, and when silence is the end. A machine of (message, now):
/// whoever moves the bytes (Link), or the messages themselves (tests, a simulator), turns the
/// crank: hand in what comes, send what next() gives, and end the link when over() says so.
class LinkEnd {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    /// Messages of the hello go out as they are, all others tagged.
    using Said = std::variant<HelloMessage, Message>;
    struct TagKeys {
        LinkKey sending, receiving;
    };

    LinkEnd() = default;
    LinkEnd(const LinkEnd&) = delete;
    LinkEnd& operator=(const LinkEnd&) = delete;
    virtual ~LinkEnd() = default;

    /// A message of the hello has come, or bytes that are none, and why.
    virtual void on_hello(const Result<HelloMessage>& message, TimePoint now) = 0;
    /// A message with a good tag has come. What it views need not stay.
    virtual void on_message(const Message& message, TimePoint now) = 0;
    /// What to send now, if anything. Payloads stay good until the next call.
    virtual std::optional<Said> next(TimePoint now) = 0;
    /// When next() will have something again; asked after each message and each next(). It may
    /// become sooner at another time: then the driver is woken.
    virtual TimePoint due() const = 0;

    /// Both ends know the keys: what comes from now on is tagged, but for a refusal before the
    /// hello is over.
    const std::optional<TagKeys>& tags() const { return tags_; }
    /// The hello is over: messages may be long.
    bool greeted() const { return greeted_; }
    /// Everything is said: the link ends when the other end has read it.
    virtual bool finished() const { return false; }

    /// The end comes then, for this reason, if nothing is heard until then.
    struct Limit {
        TimePoint at;
        Error why;
    };
    virtual Limit limit() const = 0;
    /// Why the link is to end now. What next() still has is to be sent before.
    std::optional<boost::system::error_code> over(TimePoint now) const {
        if (ended_) return ended_;
        const auto until = limit();
        if (now >= until.at) return make_error_code(until.why);
        return std::nullopt;
    }

    /// Ends the link at once, with nothing more said; the first reason counts.
    void close(boost::system::error_code reason) {
        if (ended_ && closed_) return;
        if (!ended_) ended_ = reason;
        closed_ = true;
        wake();
    }
    bool closed() const { return closed_; }
    /// Nothing that comes counts any more.
    bool ended() const { return ended_.has_value(); }

    /// Where bytes are counted now.
    virtual LinkCounters& traffic() = 0;

    /// Whoever turns the crank, while he does.
    class Driver {
    public:
        /// next(), due() or over() have changed.
        virtual void woken() = 0;

    protected:
        ~Driver() = default;
    };
    void set_driver(Driver* driver) { driver_ = driver; }
    /// There may be something to send, or the end may have come.
    void wake() {
        if (driver_ != nullptr) driver_->woken();
    }

protected:
    /// Ends the link when what next() still has is sent.
    void end(boost::system::error_code reason) {
        if (!ended_) ended_ = reason;
    }
    void secure(const LinkKey& sending, const LinkKey& receiving) {
        tags_.emplace(TagKeys{sending, receiving});
    }
    void welcomed() { greeted_ = true; }

private:
    std::optional<boost::system::error_code> ended_;
    bool closed_ = false, greeted_ = false;
    std::optional<TagKeys> tags_;
    Driver* driver_ = nullptr;
};

}  // namespace protocol
