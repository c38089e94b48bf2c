#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// Has the client left that waits for an answer? By looks at its connection now and then.
class Departure {
public:
    using Clock = std::chrono::steady_clock;

    /// How often to look.
    static constexpr std::chrono::seconds kLook{1};
    /// A client that has ended its side has most likely gone, but may still read (RFC 9112 §9.6):
    /// it has so long from when that was seen, or from the last bytes that went out to it.
    static constexpr std::chrono::seconds kHalfClosedAtMost{10};

    enum class Line { open, half_closed, broken };

    /// `sent`: bytes of the answer so far. True when nobody is there to be waited for.
    bool has_left(Line line, std::uint64_t sent, Clock::time_point now) {
        if (line == Line::broken) return true;
        if (line == Line::open) {
            half_closed_.reset();
            return false;
        }
        if (!half_closed_ || sent_ != sent) half_closed_ = now;
        sent_ = sent;
        return now - *half_closed_ >= kHalfClosedAtMost;
    }
    /// Another answer.
    void begin() { half_closed_.reset(); }

private:
    std::optional<Clock::time_point> half_closed_;
    std::uint64_t sent_ = 0;
};

/// What a look at this socket shows, even behind bytes that nobody has read.
Departure::Line look_at_line(int socket);

}  // namespace proxy
