#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "summary/sizing/key.hpp"

namespace proxy {

/// The causes of false hits: the reason why a summary promised a key that the peer lacks. The
/// peer's response does not show it, but its next announcement does. If the announcement withdraws
/// the key, the object had gone and the change was on its way. If the key stays, the summary has
/// never meant this object (or the peer has fetched it meanwhile, which counts as a collision,
/// too). One thread; no I/O, no clock.
class FalseHits {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// False hits watched at the same time. Beyond that the oldest ones end without a judgement.
    static constexpr std::size_t kMaxWatched = 256;

    /// The second look-up found the key withdrawn, or still announced.
    enum class Withdrawal { no, yes, unknown };  // unknown: the peer is gone
    enum class Cause { collision, withdrawn };
    using Look = std::function<Withdrawal(const std::string& node, const summary::Key& key)>;
    using Book = std::function<void(const std::string& node, Cause cause)>;

    /// Notes a false hit of `node`. `announced_by`: the node has announced by then all that it has
    /// dropped until now.
    void note(std::string node, const summary::Key& key, Time announced_by);
    /// Looks the keys up again whose time has come.
    void judge(Time now, const Look& look, const Book& book);

private:
    struct PendingCheck {
        std::string node;
        summary::KeyHash hash;
        std::string uri;
        Time announced_by;
    };
    std::deque<PendingCheck> watched_;
};

}  // namespace proxy
