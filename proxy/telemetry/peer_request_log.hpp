#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "proxy/http/outcome.hpp"

namespace proxy {

/// The peer requests for one client's answer, in order, for its line in the access log. The thread
/// of one worker. A fetch may keep it after the client has left.
class PeerRequestLog {
public:
    struct Entry {
        std::string node;
        PeerVerdict verdict = PeerVerdict::pending;
    };
    static constexpr std::size_t kMax = 8;  // the last ones, for a body in blocks

    /// Notes the start of a peer request. Returns its number for answered().
    std::uint64_t asked(const std::string& node) {
        if (all_.size() == kMax) {
            all_.pop_front();
            ++gone_;
        }
        all_.push_back({node, PeerVerdict::pending});
        return gone_ + all_.size() - 1;
    }
    /// Notes the verdict so far; it may change when an answer breaks off or is dropped.
    void answered(std::uint64_t number, PeerVerdict verdict) {
        if (number >= gone_) all_[number - gone_].verdict = verdict;
    }

    const std::deque<Entry>& all() const { return all_; }
    /// The last peer request to this peer, or null.
    const Entry* last_to(const std::string& node) const {
        const auto found = std::find_if(all_.rbegin(), all_.rend(),
                                        [&](const Entry& one) { return one.node == node; });
        return found == all_.rend() ? nullptr : &*found;
    }

private:
    std::deque<Entry> all_;
    std::uint64_t gone_ = 0;  // in front of them
};

}  // namespace proxy
