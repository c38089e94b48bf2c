#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>

#include "proxy/config/config.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

// Whether this node stores what a peer gave it (cluster.copy). No I/O, no clock.

/// Keys that came from peers lately, in two generations: the last `window` different ones are
/// remembered at least, twice as many at most. One thread. Memory: about 36 bytes for each of them.
class RemoteHits {
public:
    static constexpr std::size_t kWindow = 65'536;

    explicit RemoteHits(std::size_t window = kWindow) : window_(window) {}

    /// Notes that the key comes from a peer now. Did it before?
    bool note(summary::KeyHash key);

private:
    using Keys = boost::unordered_flat_set<std::uint64_t>;

    std::size_t window_;
    Keys newer_, older_;
};

/// A peer's answer to a local miss, which may be stored.
struct RemoteHit {
    summary::KeyHash key;
    bool renews = false;   // something older is stored here: nodes that hold the key stay the same
    bool awaited = false;  // other requests wait for the same answer, and use it too
};

/// Is it stored? Else it is passed on. Of the policies `second_use` alone looks at `lately`, and
/// notes it there.
bool stores_copy(CopyPolicy policy, const RemoteHit& hit, RemoteHits& lately);

}  // namespace proxy
