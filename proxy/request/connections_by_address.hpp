#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/access/client_network.hpp"

namespace proxy {

/// Counts the open connections of each client address. An IPv6 address counts with its /64, because
/// the owner of one of its addresses has all of them. Memory: some 80 bytes for each address with a
/// connection. Any thread.
class ConnectionsByAddress {
    struct Entry {
        std::atomic<std::uint32_t> open{0};
    };
    using Entries = std::map<ClientNetwork, Entry>;
    struct Shard {
        std::mutex mutex;
        Entries entries;
    };

public:
    /// One connection of an address until it is destroyed. An empty ticket counts for no address.
    class Ticket {
    public:
        Ticket() = default;
        Ticket(Ticket&& other) noexcept
            : shard_(std::exchange(other.shard_, nullptr)), at_(other.at_) {}
        Ticket& operator=(Ticket&& other) noexcept {
            std::swap(shard_, other.shard_);
            std::swap(at_, other.at_);
            return *this;
        }
        ~Ticket();

        /// The connections of its address, this one included. 0: the ticket is empty.
        std::uint32_t of_address() const {
            return shard_ ? at_->second.open.load(std::memory_order_relaxed) : 0;
        }
        /// Both are of one address, or both are empty.
        bool has_address_of(const Ticket& other) const {
            return shard_ == other.shard_ && (!shard_ || at_ == other.at_);
        }

    private:
        friend class ConnectionsByAddress;
        Ticket(Shard& shard, Entries::iterator at) : shard_(&shard), at_(at) {}

        Shard* shard_ = nullptr;
        Entries::iterator at_{};
    };

    /// `address` as base::plain_address() has it. This outlives the ticket.
    Ticket take(const boost::asio::ip::address& address);

private:
    static constexpr std::size_t kShards = 16;
    std::array<Shard, kShards> shards_;
};

}  // namespace proxy
