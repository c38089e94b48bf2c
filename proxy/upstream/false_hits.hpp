#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "summary/key.hpp"

namespace proxy {

/// Why a peer's summary promised what the peer had not. The peer's answer does not say; what it
/// announces next does: a claim that is withdrawn was of an object that had gone and was not told
/// of yet, one that stays was never of this object. (It also stays if the peer has fetched the
/// object meanwhile, which counts as a collision then.) One thread; no I/O, no clock.
class FalseHits {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Under observation at the same time; beyond that the oldest are let go without a judgement.
    static constexpr std::size_t kMaxWatched = 256;

    /// Was the claim withdrawn by the time it was looked at again?
    enum class Withdrawal { no, yes, unknown };  // unknown: the peer counts no more
    enum class Cause { collision, withdrawn };
    using Look = std::function<Withdrawal(const std::string& node, const summary::Key& key)>;
    using Book = std::function<void(const std::string& node, Cause cause)>;

    /// `node` said that it has not what its summary claims. `announced_by`: what it has dropped
    /// until now has been announced by then.
    void note(std::string node, const summary::Key& key, Time announced_by);
    /// Looks again at those claims whose time has come.
    void judge(Time now, const Look& look, const Book& book);

private:
    struct Watched {
        std::string node;
        summary::KeyHash hash;
        std::string uri;
        Time announced_by;
    };
    std::deque<Watched> watched_;
};

}  // namespace proxy
