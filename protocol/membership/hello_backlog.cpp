#include "protocol/membership/hello_backlog.hpp"

#include <algorithm>
#include <utility>

#include "base/net/plain_address.hpp"

namespace protocol {

void HelloBacklog::expect(std::uint64_t contact, std::vector<Address> addresses) {
    for (auto& address : addresses) address = base::plain_address(address);
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    forget_contact(contact);
    for (const auto& address : addresses) add(&PeerHellos::dialled, address);
    expected_[contact] = std::move(addresses);
}

void HelloBacklog::proved(std::size_t peer, const Address& address) {
    forget_peer(peer);
    const auto from = base::plain_address(address);
    add(&PeerHellos::came, from);
    proved_[peer] = from;
}

void HelloBacklog::forget_contact(std::uint64_t contact) {
    const auto known = expected_.extract(contact);
    if (known.empty()) return;
    for (const auto& address : known.mapped()) remove(&PeerHellos::dialled, address);
}

void HelloBacklog::forget_peer(std::size_t peer) {
    const auto known = proved_.extract(peer);
    if (!known.empty()) remove(&PeerHellos::came, known.mapped());
}

void HelloBacklog::add(Count count, const Address& address) {
    ++(known_[address].*count);
}

void HelloBacklog::remove(Count count, const Address& address) {
    const auto known = known_.find(address);
    --(known->second.*count);
    if (known->second.dialled + known->second.came == 0) known_.erase(known);
}

/// A lower bound: the peers dialled there and those that came from there may be the same.
std::size_t HelloBacklog::peers_at(const Address& address) const {
    const auto known = known_.find(base::plain_address(address));
    return known == known_.end() ? 0 : std::max(known->second.dialled, known->second.came);
}

std::size_t HelloBacklog::waiting_at(const Address& address) const {
    return static_cast<std::size_t>(
        std::count_if(waiting_.begin(), waiting_.end(),
                      [&](const Waiting& waiting) { return waiting.address == address; }));
}

HelloBacklog::Arrival HelloBacklog::arrive(const Address& from) {
    const auto address = base::plain_address(from);
    const auto peers = peers_at(address);
    Arrival arrival;
    arrival.ticket = ++last_;
    waiting_.push_back({arrival.ticket, address, peers == 0});
    const auto here = waiting_at(address);
    if (here > kMaxAtOncePerAddress * std::max<std::size_t>(peers, 1)) {
        arrival.gives_way = evict_from(address);
    } else if (peers == 0) {
        std::size_t strangers = 0, most = 0;
        const Waiting* crowd = nullptr;  // the oldest at the address with most of them
        for (const auto& waiting : waiting_) {
            if (!waiting.stranger) continue;
            ++strangers;
            const auto count = waiting_at(waiting.address);
            if (count > most) {
                most = count;
                crowd = &waiting;
            }
        }
        if (strangers > kMaxStrangersAtOnce) arrival.gives_way = evict_from(crowd->address);
    }
    return arrival;
}

std::optional<HelloBacklog::Ticket> HelloBacklog::evict_from(const Address& address) {
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
        return waiting.address == address;
    });
    const auto ticket = oldest->ticket;
    waiting_.erase(oldest);
    return ticket;
}

void HelloBacklog::leave(Ticket ticket) {
    std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.ticket == ticket; });
}

}  // namespace protocol
