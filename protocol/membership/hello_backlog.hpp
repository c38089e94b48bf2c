#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace protocol {

inline constexpr std::size_t kMaxStrangersAtOnce =
    64;  // at addresses of strangers, where no peer is known
inline constexpr std::size_t kMaxAtOncePerAddress =
    16;  // strangers at one address; also for each peer at an address

/// The connections that are still in the hello, and the choice of one to close when there are too
/// many. The address of a peer has places of its own, which other addresses cannot take. Among
/// strangers the address with the most connections gives up its oldest. A hello takes a few
/// milliseconds, so an honest node is through before its turn comes. Uses neither I/O nor a clock.
/// One thread.
class HelloBacklog {
public:
    using Address = boost::asio::ip::address;
    using Ticket = std::uint64_t;

    /// The node dialled at these addresses may also come from them. Replaces the contact's earlier
    /// addresses.
    void expect(std::uint64_t contact, std::vector<Address> addresses);
    /// The peer has proved itself from this address, so it may come from there again.
    void proved(std::size_t peer, const Address& address);
    void forget_contact(std::uint64_t contact);
    void forget_peer(std::size_t peer);
    bool expected(const Address& address) const { return peers_at(address) > 0; }

    struct Arrival {
        Ticket ticket = 0;
        std::optional<Ticket> gives_way;  // to be closed; it has left the backlog already
    };
    Arrival arrive(const Address& address);
    void leave(Ticket ticket);

    std::size_t size() const { return waiting_.size(); }

private:
    struct Waiting {
        Ticket ticket;
        Address address;
        bool stranger;
    };

    /// The peers at one address: those dialled there, and those that came from there.
    struct PeerHellos {
        std::size_t dialled = 0, came = 0;
    };
    using Count = std::size_t PeerHellos::*;
    void add(Count count, const Address& address);
    void remove(Count count, const Address& address);
    std::size_t peers_at(const Address& address) const;
    std::size_t waiting_at(const Address& address) const;
    std::optional<Ticket> evict_from(const Address& address);

    std::unordered_map<std::uint64_t, std::vector<Address>> expected_;  // by contact
    std::unordered_map<std::size_t, Address> proved_;                   // by peer
    std::unordered_map<Address, PeerHellos>
        known_;                   // of both; one entry for each address of a peer
    std::list<Waiting> waiting_;  // oldest first
    Ticket last_ = 0;
};

}  // namespace protocol
