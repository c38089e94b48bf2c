#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "proxy/disk/pages.hpp"
#include "proxy/storage/node_events.hpp"

namespace proxy {

/// Key changes, or keys and tags of one invalidation, that the control thread takes in one turn of
/// its event loop.
inline constexpr std::size_t kPerTurn = 2048;
inline constexpr std::size_t kMostRenewals = 1024;
/// After key changes the control thread is woken for further ones only when so much time has
/// passed, or kPerTurn of them wait. To wake it for each stored response takes a system call of the
/// worker and a turn of the control thread, some 1,500 instructions of a miss besides.
inline constexpr std::chrono::milliseconds kKeyRest{10};

/// The event queue of the control thread. Any thread pushes; the handlers run on the control thread
/// without a lock. One turn of the event loop delivers one event and up to kPerTurn key
/// changes, so a purge of everything leaves time for other work. The first key change after a rest
/// is delivered at once, and those that follow it within kKeyRest together; events wait for none.
/// Key changes have a lane of their own, of 24 bytes each, because a start or a purge makes
/// millions of them. Both lanes grow while the control thread is busy, and give their memory back.
/// An exception of a handler costs the event or the batch that it handled; later ones arrive.
class ControlQueue final : public NodeEvents {
public:
    class KeyHandler {
    public:
        virtual void keys_changed(std::span<const KeyChange> changes) = 0;

    protected:
        ~KeyHandler() = default;
    };
    class EventHandler {
    public:
        virtual void happened(NodeEvent event) = 0;

    protected:
        ~EventHandler() = default;
    };

    /// All arguments outlive the queue.
    ControlQueue(boost::asio::io_context& control, KeyHandler& keys, EventHandler& others)
        : control_(control), rest_(control), key_handler_(keys), event_handler_(others) {}
    ControlQueue(const ControlQueue&) = delete;
    ControlQueue& operator=(const ControlQueue&) = delete;

    void push(KeyChange change) override;
    /// Joins an invalidation to the one before it if that still waits, is as soft, and names fewer
    /// than kPerTurn keys and tags. Peers then get both in one message. Drops a renewal while
    /// kMostRenewals events wait.
    void push(NodeEvent event) override;

    /// Number of key changes so far. Any thread.
    std::uint64_t changes_pushed() const;
    /// Number of key changes that their handler has had. Control thread.
    std::uint64_t changes_delivered() const { return changes_delivered_; }

private:
    class TurnEnd;

    void wake();
    void turn();
    void end_turn();
    void begin_rest();
    void end_rest();
    bool wakes_for_changes() const { return !rests_ || changes_.size() >= kPerTurn; }
    void deliver_changes();

    boost::asio::io_context& control_;
    boost::asio::steady_timer rest_;
    KeyHandler& key_handler_;
    EventHandler& event_handler_;

    mutable std::mutex mutex_;
    Pages<KeyChange> changes_;
    std::deque<NodeEvent> events_;
    std::uint64_t changes_pushed_ = 0;
    bool turn_posted_ = false;
    bool rests_ = false;  // until `rest_`, from key changes

    // Of the control thread.
    Pages<KeyChange> batch_;
    std::size_t batch_delivered_ = 0;
    bool had_changes_ = false;  // in this turn
    std::uint64_t changes_delivered_ = 0;
};

}  // namespace proxy
