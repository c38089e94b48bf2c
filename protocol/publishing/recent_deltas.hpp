#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/wire/codec.hpp"

namespace protocol {

/// The last deltas of the present epoch, shared by all links. A subscriber whose link broke gets
/// those that it missed, in place of a snapshot. Memory: at most `max_bytes`, payloads and the list
/// together. One thread only.
class RecentDeltas {
public:
    using Payload = std::shared_ptr<const Bytes>;

    explicit RecentDeltas(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    /// Takes the announcement that leads to `generation`. Without a payload, which is an
    /// announcement by a snapshot, or after a generation that is missing, the list begins anew.
    void add(std::uint64_t epoch, std::uint64_t generation, Payload payload);

    /// The deltas that lead from `generation` to `present`. Returns nullopt if the list does not
    /// reach back that far, or if they have more than `most_bytes`.
    std::optional<std::vector<Payload>> since(std::uint64_t epoch, std::uint64_t generation,
                                              std::uint64_t present, std::size_t most_bytes) const;

    std::size_t bytes() const { return bytes_; }

private:
    static std::size_t cost(const Payload& payload) {
        return sizeof(Payload) + sizeof(Bytes) + payload->capacity();
    }
    void begin(std::uint64_t epoch, std::uint64_t generation);
    void drop_first();

    std::size_t max_bytes_;
    std::uint64_t epoch_ = 0, last_ = 0;  // last_: the generation to which the last delta leads
    std::deque<Payload> deltas_;
    std::size_t bytes_ = 0;
};

}  // namespace protocol
