#pragma once

#include <algorithm>
#include <cstdint>

namespace protocol {

/// Progress of one link with the invalidations of its publisher, by number: those handed out to be
/// applied, those kept, and those confirmed. An invalidation named on an earlier link is confirmed
/// only after this link has named it again. One thread.
class Confirmations {
public:
    /// `applied`: the last invalidation of this publisher's instance that this node has applied;
    /// `kept`: the last that may be confirmed.
    Confirmations(std::uint64_t applied, std::uint64_t kept) : applied_(applied), kept_(kept) {}

    /// The link has named all invalidations up to `last`. Returns true if some of them are new, and
    /// to be applied. Either kind is confirmed once it is kept.
    bool named(std::uint64_t last) {
        named_ = std::max(named_, last);
        again_ = again_ || last <= kept_;  // the confirmation was lost
        if (last <= applied_) return false;
        applied_ = last;
        return true;
    }
    /// All invalidations up to `last` are kept.
    void kept(std::uint64_t last) { kept_ = last; }

    bool due() const { return again_ || confirmable() > confirmed_; }
    /// The number to confirm now.
    std::uint64_t take() {
        again_ = false;
        confirmed_ = confirmable();
        return confirmed_;
    }
    std::uint64_t applied() const { return applied_; }

private:
    std::uint64_t confirmable() const { return std::min(kept_, named_); }

    std::uint64_t applied_, kept_;
    std::uint64_t named_ = 0, confirmed_ = 0;  // on this link
    bool again_ = false;
};

}  // namespace protocol
