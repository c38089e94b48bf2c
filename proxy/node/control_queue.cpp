#include "proxy/node/control_queue.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <new>
#include <optional>
#include <utility>

namespace proxy {

/// Ends a turn, also one in which the handler throws. Without memory for a post the next event
/// posts the next turn.
class ControlQueue::TurnEnd {
public:
    explicit TurnEnd(ControlQueue& queue) : queue_(queue) {}
    ~TurnEnd() {
        try {
            queue_.end_turn();
        } catch (const std::bad_alloc&) {
        }
    }
    TurnEnd(const TurnEnd&) = delete;
    TurnEnd& operator=(const TurnEnd&) = delete;

private:
    ControlQueue& queue_;
};

void ControlQueue::push(KeyChange change) {
    const std::lock_guard lock(mutex_);
    changes_.push_back(change);
    ++changes_pushed_;
    if (!turn_posted_ && wakes_for_changes()) wake();
}

void ControlQueue::push(NodeEvent event) {
    const std::lock_guard lock(mutex_);
    const auto* more = std::get_if<LocalInvalidation>(&event);
    auto* last = events_.empty() ? nullptr : std::get_if<LocalInvalidation>(&events_.back());
    const auto is_renewal = std::holds_alternative<LocalRenewal>(event);
    if (is_renewal && events_.size() >= kMostRenewals) return;
    if (more && last && more->what.soft == last->what.soft &&
        last->what.keys.size() + last->what.tags.size() < kPerTurn)
        last->what += more->what;
    else
        events_.push_back(std::move(event));
    if (!turn_posted_) wake();
}

std::uint64_t ControlQueue::changes_pushed() const {
    const std::lock_guard lock(mutex_);
    return changes_pushed_;
}

/// With the lock. If the post fails, the next event tries again.
void ControlQueue::wake() {
    boost::asio::post(control_, [this] { turn(); });
    turn_posted_ = true;
}

void ControlQueue::turn() {
    std::optional<NodeEvent> event;
    {
        const std::lock_guard lock(mutex_);
        if (!events_.empty()) {
            event = std::move(events_.front());
            events_.pop_front();
        }
        if (batch_.empty()) batch_.swap(changes_);
    }
    const TurnEnd end(*this);
    had_changes_ = !batch_.empty();
    if (event) event_handler_.happened(std::move(*event));
    if (!batch_.empty()) deliver_changes();
}

void ControlQueue::deliver_changes() {
    const auto rest = std::span<const KeyChange>(batch_).subspan(batch_delivered_);
    const auto now = rest.first(std::min(rest.size(), kPerTurn));
    batch_delivered_ += now.size();
    changes_delivered_ += now.size();
    if (!now.empty()) key_handler_.keys_changed(now);
}

void ControlQueue::end_turn() {
    if (batch_delivered_ == batch_.size()) {
        batch_.clear();
        batch_delivered_ = 0;
        // Recovery delivers all keys of a disk at once; the memory for them is needed only then.
        if (batch_.capacity() > kPerTurn) Pages<KeyChange>().swap(batch_);
    }
    const std::lock_guard lock(mutex_);
    turn_posted_ = false;
    if (had_changes_ && !rests_) begin_rest();
    if (!batch_.empty() || !events_.empty() || (!changes_.empty() && wakes_for_changes())) wake();
}

/// With the lock.
void ControlQueue::begin_rest() {
    rest_.expires_after(kKeyRest);
    rest_.async_wait([this](const boost::system::error_code& stopped) {
        if (!stopped) end_rest();
    });
    rests_ = true;
}

void ControlQueue::end_rest() {
    const std::lock_guard lock(mutex_);
    rests_ = false;
    if (!changes_.empty() && !turn_posted_) wake();
}

}  // namespace proxy
