#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// Decides by repeated looks at a connection whether the client that waits for a response has left.
/// No I/O, no clock.
class DisconnectDetector {
public:
    using Clock = std::chrono::steady_clock;

    /// How often to look.
    static constexpr std::chrono::seconds kLook{1};
    /// A client that has ended its side has most likely gone, but may still read (RFC 9112 §9.6).
    /// It counts as gone so long after the first look that showed it, or after the last bytes sent.
    static constexpr std::chrono::seconds kHalfClosedAtMost{10};

    enum class Line { open, half_closed, broken };

    /// `sent`: bytes of the response so far. True when the client has left.
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
    /// Begins with another response.
    void begin() { half_closed_.reset(); }

private:
    std::optional<Clock::time_point> half_closed_;
    std::uint64_t sent_ = 0;
};

/// The state of this socket's connection, even behind bytes that are still unread.
DisconnectDetector::Line look_at_line(int socket);

}  // namespace proxy
