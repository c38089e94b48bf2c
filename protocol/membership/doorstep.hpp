#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace protocol {

inline constexpr std::size_t kMaxStrangersAtOnce = 64;   // at addresses where no peer is known
inline constexpr std::size_t kMaxAtOncePerAddress = 16;  // of them, and for each peer at an address

/// Connections that have not proved who they are, and who has to give way when there are many. The
/// address of a peer has places of its own, which nobody elsewhere can take. Among strangers the
/// address with most connections gives up its oldest: a hello takes a few milliseconds, so whoever
/// means it is through before its turn to go comes. Decides only; no I/O, no clock. One thread.
class Doorstep {
public:
    using Address = boost::asio::ip::address;
    using Ticket = std::uint64_t;

    /// Who is dialled there may come from there, too: in place of what was said of this contact
    /// before.
    void expect(std::uint64_t contact, std::vector<Address> addresses);
    /// This peer has proved itself from here: the next time it may come from here, too.
    void proved(std::size_t peer, const Address& address);
    void forget_contact(std::uint64_t contact);
    void forget_peer(std::size_t peer);
    bool expected(const Address& address) const { return peers_at(address) > 0; }

    struct Arrival {
        Ticket ticket = 0;
        std::optional<Ticket> gives_way;  // to be closed; has left already
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

    /// Peers at one address: those who are dialled there, and those who came from there.
    struct Known {
        std::size_t dialled = 0, came = 0;
    };
    using Count = std::size_t Known::*;
    void add(Count count, const Address& address);
    void remove(Count count, const Address& address);
    std::size_t peers_at(const Address& address) const;
    std::size_t waiting_at(const Address& address) const;
    std::optional<Ticket> evict_from(const Address& address);

    std::unordered_map<std::uint64_t, std::vector<Address>> expected_;  // by contact
    std::unordered_map<std::size_t, Address> proved_;                   // by peer
    std::unordered_map<Address, Known> known_;  // of both; as many addresses as there are peers
    std::list<Waiting> waiting_;                // oldest first
    Ticket last_ = 0;
};

}  // namespace protocol
