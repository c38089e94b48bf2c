#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "proxy/http/outcome.hpp"

namespace proxy {

/// The peers that were asked for one client's answer, for its line in the access log, in the order
/// in which they were. One worker's; those who ask may outlive the client.
class PeersAsked {
public:
    struct Asked {
        std::string node;
        PeerVerdict verdict = PeerVerdict::pending;
    };
    static constexpr std::size_t kMax = 8;  // of a body in blocks, the last ones

    /// A question begins; returns what answered() knows it by.
    std::uint64_t asked(const std::string& node) {
        if (all_.size() == kMax) {
            all_.pop_front();
            ++gone_;
        }
        all_.push_back({node, PeerVerdict::pending});
        return gone_ + all_.size() - 1;
    }
    /// So far, or at its end: what is found may yet break off, or not be used.
    void answered(std::uint64_t question, PeerVerdict verdict) {
        if (question >= gone_) all_[question - gone_].verdict = verdict;
    }

    const std::deque<Asked>& all() const { return all_; }
    /// The last question to this peer; null when there was none.
    const Asked* last_to(const std::string& node) const {
        const auto found = std::find_if(all_.rbegin(), all_.rend(),
                                        [&](const Asked& asked) { return asked.node == node; });
        return found == all_.rend() ? nullptr : &*found;
    }

private:
    std::deque<Asked> all_;
    std::uint64_t gone_ = 0;  // in front of them
};

}  // namespace proxy
