#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace protocol {

/// Progress of this node with the invalidations of one instance of a publisher: those handed out to
/// be applied, and those kept, whose effect survives the death of this process. Only a kept
/// invalidation, with all earlier ones kept, is confirmed. Outlives links, and the cluster that a
/// reload replaces. One thread.
class Receipts : public std::enable_shared_from_this<Receipts> {
public:
    /// Sends confirmations while there is a link.
    class Listener {
    public:
        /// kept() has risen.
        virtual void more_is_kept() = 0;

    protected:
        ~Listener() = default;
    };

    /// `kept`: invalidations up to this number are done. Lives in a shared_ptr.
    explicit Receipts(std::uint64_t kept = 0) : handed_out_(kept), kept_(kept) {}

    void listen(Listener& listener) { listener_ = &listener; }
    /// Stops notifying `listener`, unless another has taken its place.
    void leave(const Listener& listener) {
        if (listener_ == &listener) listener_ = nullptr;
    }

    /// Notes that all invalidations up to `last` are handed out. The caller calls the result when
    /// all of them are kept, at once or later. A caller that cannot do so drops the result, as the
    /// next one covers it. Precondition: last > handed_out().
    std::function<void()> hand_out(std::uint64_t last);

    std::uint64_t handed_out() const { return handed_out_; }
    std::uint64_t kept() const { return kept_; }

private:
    void note(std::uint64_t kept);

    std::uint64_t handed_out_, kept_;
    Listener* listener_ = nullptr;
};

}  // namespace protocol
