#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>

#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Keys that came from peers lately, in two generations: at least the last `window` different ones,
/// and at most twice as many. One thread. Memory: about 36 bytes for each of them.
class RemoteHits {
public:
    static constexpr std::size_t kWindow = 65'536;

    explicit RemoteHits(std::size_t window = kWindow) : window_(window) {}

    /// Notes a key that comes from a peer now. True if it did before.
    bool note(summary::KeyHash key);

private:
    using Keys = boost::unordered_flat_set<std::uint64_t>;

    std::size_t window_;
    Keys newer_, older_;
};

}  // namespace proxy
