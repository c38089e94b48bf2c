#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace protocol {

/// How far this node is with what one run of a publisher has invalidated: what was handed out to be
/// dropped, and what of that is kept, so that it stays dropped even if this node is killed. Only
/// what is kept, and all before it, is confirmed. Outlives links, and the cluster that a reload
/// replaces. One thread.
class Receipts : public std::enable_shared_from_this<Receipts> {
public:
    /// Whoever confirms, while there is a link.
    class Listener {
    public:
        /// kept() has risen.
        virtual void more_is_kept() = 0;

    protected:
        ~Listener() = default;
    };

    /// Up to `kept` there is nothing left to do. Lives in a shared_ptr.
    explicit Receipts(std::uint64_t kept = 0) : handed_out_(kept), kept_(kept) {}

    void listen(Listener& listener) { listener_ = &listener; }
    /// Another one that listens by now goes on.
    void leave(const Listener& listener) {
        if (listener_ == &listener) listener_ = nullptr;
    }

    /// All up to `last` is handed out now. To be called when that is kept, and all that was handed
    /// out before, at once or later, whatever has ended since; whoever cannot tell for a while
    /// leaves it out, as the next one says it too. Precondition: last > handed_out().
    std::function<void()> hand_out(std::uint64_t last);

    std::uint64_t handed_out() const { return handed_out_; }
    std::uint64_t kept() const { return kept_; }

private:
    void note(std::uint64_t kept);

    std::uint64_t handed_out_, kept_;
    Listener* listener_ = nullptr;
};

}  // namespace protocol
