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

/// A peer has given this node a copy that may be stored: is it? `renews`: something older of the
/// key is stored here, which the copy then replaces; who holds the object stays the same. What is
/// not stored is passed on. Of the policies `second_use` alone looks at `lately`, and notes it.
bool stores_copy(CopyPolicy policy, summary::KeyHash key, bool renews, RemoteHits& lately);

}  // namespace proxy
