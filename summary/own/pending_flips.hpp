#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "summary/filters/delta.hpp"

namespace summary {

/// The flips of bits that an own summary has yet to announce. Copies of the bits that are made
/// meanwhile may contain some of them.
class PendingFlips {
public:
    /// New flips are appended here. bound() comes next.
    std::vector<Flip>& list() { return flips_; }
    /// Above `most` flips it forgets them: the next announcement must be a snapshot.
    void bound(std::uint64_t most) {
        lost_ = lost_ || flips_.size() > most;
        if (lost_) flips_.clear();
    }
    bool empty() const { return flips_.empty() && !lost_; }

    void copy_begun() { ++copies_; }
    void copy_ended() {
        --copies_;
        copied_ = copied_ || !flips_.empty();
    }

    /// Takes the first `count` flips. The delta suits receivers with and without a copy made
    /// meanwhile. Returns nullopt if the flips were forgotten.
    std::optional<Delta> take(std::size_t count) {
        const bool known_in_part = copied_ || copies_ > 0;
        std::vector<Flip> taken;
        if (count < flips_.size()) {
            const auto end = flips_.begin() + static_cast<std::ptrdiff_t>(count);
            taken.assign(flips_.begin(), end);
            flips_.erase(flips_.begin(), end);
        } else {
            taken = std::exchange(flips_, {});
            copied_ = false;
        }
        if (std::exchange(lost_, false)) return std::nullopt;
        return known_in_part ? last_values(std::move(taken)) : net_effect(std::move(taken));
    }

private:
    std::vector<Flip> flips_;
    bool lost_ = false;
    bool copied_ = false;  // some receiver knows a part of the flips
    unsigned copies_ = 0;  // begun and unfinished in this epoch
};

}  // namespace summary
