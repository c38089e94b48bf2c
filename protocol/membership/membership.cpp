#include "protocol/membership/membership.hpp"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

namespace protocol {
namespace {

std::string key_of(const DnsPeers& name) {
    return name.name + ' ' + std::to_string(name.link_port);
}

}  // namespace

void Membership::take_over(const Membership& earlier, TimePoint now) {
    names_ = earlier.names_;
    listed_ = earlier.listed_;
    led_to_ = earlier.led_to_;
    contacts_ = earlier.contacts_;
    peers_ = earlier.peers_;
    last_ = earlier.last_;
    unplaced_ = earlier.unplaced_;
    ++changes_;
    for (auto& [id, contact] : contacts_) {
        contact.up = false;
        contact.dialled = !contact.met_self;
        contact.idle_since = now;
    }
    for (auto& peer : peers_) {
        peer.heard = false;
        peer.silent_since = now;
    }
}

void Membership::configure(const std::vector<PeerConfig>& listed,
                           const std::vector<DnsPeers>& names, TimePoint now) {
    ++changes_;
    std::vector<ContactId> left;  // by names
    for (const auto& name : names_) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const auto led = led_to_.find(key_of(name));
        if (led != led_to_.end()) left.insert(left.end(), led->second.begin(), led->second.end());
        found(name, {}, now);
    }
    names_ = names;
    for (const auto id : left) {
        const auto known = contacts_.find(id);
        const bool stays =
            known == contacts_.end() || known->second.listed || known->second.names > 0;
        if (!stays) remove_contact(id, now);
    }

    std::set<std::string_view> nodes;
    for (const auto& entry : listed) nodes.insert(entry.node);
    for (Number number = 0; number < peers_.size(); ++number) {
        auto& peer = peers_[number];
        if (nodes.contains(peer.node)) continue;
        if (std::exchange(peer.listed, false)) unlist(number, now);
        if (!is_open() && !peer.node.empty()) vacate(number, now);
    }
    listed_ = listed;
    list_all(now);
}

void Membership::list_all(TimePoint now) {
    unplaced_.clear();
    for (const auto& entry : listed_) list(entry, now);
}

/// Without room for it, the peer waits for tidy().
void Membership::list(const PeerConfig& entry, TimePoint now) {
    const PeerPlace place{entry.link.host, entry.http.port, entry.link.port};
    const auto number = take_number(entry.node, now);
    if (!number) {
        unplaced_.push_back(entry.node);
        return;
    }
    ++changes_;
    auto& peer = peers_[*number];
    peer.listed = true;
    peer.place = {entry.http.host, entry.http.port, entry.link.port};
    if (peer.contact) {
        auto& contact = contacts_.at(*peer.contact);
        if (contact.place == place) {
            contact.listed = true;
            contact.node = entry.node;
            return;
        }
        remove_contact(*peer.contact, now);
    }
    Contact contact;
    contact.place = place;
    contact.node = entry.node;
    contact.peer = number;
    contact.listed = true;
    contact.idle_since = now;
    peers_[*number].contact = add_contact(std::move(contact));
    peers_[*number].place = {entry.http.host, entry.http.port, entry.link.port};
}

void Membership::found(const DnsPeers& name, std::span<const PeerPlace> places, TimePoint now) {
    ++changes_;
    const auto key = key_of(name);
    std::vector<ContactId> there;
    for (const auto& place : places) {
        auto id = contact_at(place);
        if (!id && contacts_.size() >= most_contacts()) continue;
        if (!id) {
            Contact contact;
            contact.place = place;
            id = add_contact(std::move(contact));
        }
        if (std::find(there.begin(), there.end(), *id) != there.end()) continue;
        there.push_back(*id);
        auto& contact = contacts_.at(*id);
        ++contact.names;
        if (contact.listed) continue;
        contact.place.http_port = place.http_port;
        if (contact.peer && peers_[*contact.peer].contact == id && !peers_[*contact.peer].listed)
            peers_[*contact.peer].place = contact.place;
    }
    const auto before = std::exchange(led_to_[key], there);
    for (const auto id : before) {
        const auto known = contacts_.find(id);
        if (known == contacts_.end() || --known->second.names > 0) continue;
        if (known->second.listed) continue;
        known->second.idle_since = now;
        if (!known->second.dialled) remove_contact(id, now);
    }
    if (there.empty()) led_to_.erase(key);
}

Membership::MeetingResult Membership::met(ContactId id, const std::string& node,
                                          const Instance& instance, TimePoint now) {
    const auto known = contacts_.find(id);
    if (known == contacts_.end()) return {};
    auto& contact = known->second;
    if (node == self_) return {Meeting::duplicate, 0};
    const auto note_instance = [&] { contact.instance = instance; };
    contact.peer ? noting_place(*contact.peer, note_instance) : note_instance();
    // The peer reached here has left this place. It may be the one that makes room for the
    // newcomer, and this contact must survive that.
    if (contact.peer && peers_[*contact.peer].contact == id && !number_of(node))
        leave_contact(*contact.peer);
    const auto number = take_number(node, now);
    if (!number) return {Meeting::full, 0};
    auto& peer = peers_[*number];
    if (peer.left == instance && is_replaced(peer, id)) {
        leave_other(id, contact, *number);
        if (peer.contact == id && !contact.listed) {
            leave_contact(*number);
            contact.peer.reset();
        }
        return {Meeting::replaced, *number};
    }
    if (peer.contact && *peer.contact != id) {
        auto& other = contacts_.at(*peer.contact);
        const bool same = peer.instance == instance;
        const bool other_has_left = !same && peer.left && other.instance == *peer.left;
        if (other.up && !same && !other_has_left) return {Meeting::duplicate, *number};
        if ((other.up && !other_has_left) || other.listed) {
            leave_other(id, contact, *number);
            contact.peer = number;
            contact.dialled = false;
            ++changes_;
            return {Meeting::elsewhere, *number};
        }
        other.peer.reset();  // it has moved here
        ++changes_;
    }
    leave_other(id, contact, *number);
    if (contact.peer != number || peer.contact != id ||
        (!contact.listed && peer.place != contact.place))
        ++changes_;
    contact.peer = number;
    peer.contact = id;
    if (!contact.listed) peer.place = contact.place;
    peer.instance = instance;
    return {Meeting::peer, *number};
}

void Membership::met_self(ContactId id, TimePoint now) {
    const auto known = contacts_.find(id);
    if (known == contacts_.end() || known->second.listed)
        return;  // a mistake that may be corrected
    ++changes_;
    known->second.dialled = false;
    known->second.met_self = true;
    known->second.idle_since = now;
}

/// Whether another instance than the one that answered there is the peer now.
bool Membership::is_replaced(const Peer& peer, ContactId id) const {
    const auto& instance = contacts_.at(id).instance;
    if (peer.heard && peer.heard_instance != instance) return true;
    if (!peer.contact || *peer.contact == id) return false;
    const auto& other = contacts_.at(*peer.contact).instance;
    return other != Instance{} && other != instance;
}

void Membership::up(ContactId id) {
    const auto known = contacts_.find(id);
    if (known == contacts_.end()) return;
    auto& contact = known->second;
    if (!contact.peer) return void(contact.up = true);
    noting_place(*contact.peer, [&contact] { contact.up = true; });
}

void Membership::down(ContactId id, TimePoint now) {
    const auto known = contacts_.find(id);
    if (known == contacts_.end()) return;
    auto& contact = known->second;
    ++changes_;
    contact.up = false;
    contact.idle_since = now;
    if (!contact.peer) return;
    if (!peers_[*contact.peer].heard) peers_[*contact.peer].silent_since = now;
    dial_again(*contact.peer);
}

/// Dials the other places of this peer, since the one where it was reached fails.
void Membership::dial_again(Number number) {
    for (auto& [id, contact] : contacts_) {
        if (contact.peer == number && !contact.met_self) contact.dialled = true;
    }
}

bool Membership::admits(std::string_view node) const {
    return number_of(node) || (is_open() && node != self_);
}

std::optional<Membership::Number> Membership::came(const std::string& node,
                                                   const Instance& instance,
                                                   const std::string& address, TimePoint now) {
    if (!admits(node)) return std::nullopt;
    const auto number = take_number(node, now);
    if (!number) return std::nullopt;
    auto& peer = peers_[*number];
    const auto* contact = peer.contact ? &contacts_.at(*peer.contact) : nullptr;
    const bool moved = contact && !contact->listed && peer.left &&
                       contact->instance == *peer.left && *peer.left != instance;
    if (moved) {  // the node that answered there has left
        contacts_.at(*peer.contact).peer.reset();
        leave_contact(*number);
        contact = nullptr;
    }
    if (!contact || !contact->up) peer.instance = instance;
    if (!is_open() || (contact && (contact->listed || contact->up))) return number;
    const auto with_ports = std::find_if(names_.begin(), names_.end(),
                                         [](const DnsPeers& name) { return name.has_ports(); });
    if (with_ports == names_.end()) return number;  // its name will lead there
    const PeerPlace place{address, with_ports->http_port, with_ports->link_port};
    if (const auto id = contact_at(place)) {
        auto& known = contacts_.at(*id);
        known.idle_since = now;
        if (std::exchange(known.dialled, !known.met_self) == known.met_self) ++changes_;
    } else if (contacts_.size() < most_contacts()) {
        Contact perhaps;
        perhaps.place = place;
        perhaps.idle_since = now;
        add_contact(std::move(perhaps));
    }
    return number;
}

void Membership::heard(Number number, const Instance& instance) {
    auto& peer = peers_[number];
    noting_place(number, [&] {
        peer.heard = true;
        peer.heard_instance = instance;
    });
}

void Membership::said_goodbye(Number number, const Instance& instance) {
    noting_place(number, [&] { peers_[number].left = instance; });
}

PeerPlace Membership::asked_at(Number number) const {
    const auto& peer = peers_[number];
    if (!peer.heard || !peer.contact) return peer.place;
    const auto& contact = contacts_.at(*peer.contact);
    if (contact.instance == peer.heard_instance) return peer.place;
    // The operator's entry counts until another instance has proved to be the peer.
    const bool another_is_there = contact.up || (peer.left && contact.instance == *peer.left &&
                                                 peer.heard_instance != *peer.left);
    return contact.listed && !another_is_there ? peer.place : PeerPlace();
}

void Membership::unheard(Number number, TimePoint now) {
    auto& peer = peers_[number];
    if (!peer.heard) return;
    noting_place(number, [&peer] { peer.heard = false; });
    const bool reached = peer.contact && contacts_.at(*peer.contact).up;
    if (!reached) peer.silent_since = now;
}

void Membership::tidy(TimePoint now) {
    std::vector<ContactId> idle;
    for (auto& [id, contact] : contacts_) {
        if (contact.met_self && now - contact.idle_since >= kSelfAgain) {
            contact.met_self = false;
            contact.dialled = true;
            ++changes_;
        }
        if (contact.listed || contact.names > 0 || contact.up) continue;
        if (!contact.dialled || now - contact.idle_since >= forget_after_) idle.push_back(id);
    }
    for (const auto id : idle) remove_contact(id, now);
    for (Number number = 0; number < peers_.size(); ++number) {
        const auto& peer = peers_[number];
        if (peer.node.empty() || peer.listed || peer.contact || peer.heard) continue;
        if (now - peer.silent_since >= forget_after_) vacate(number, now);
    }
    if (!unplaced_.empty()) list_all(now);
}

std::optional<Membership::Number> Membership::number_of(std::string_view node) const {
    for (Number number = 0; number < peers_.size() && !node.empty(); ++number) {
        if (peers_[number].node == node) return number;
    }
    return std::nullopt;
}

std::size_t Membership::size() const {
    return static_cast<std::size_t>(std::count_if(
        peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.node.empty(); }));
}

std::optional<Membership::Number> Membership::take_number(const std::string& node, TimePoint now) {
    if (const auto known = number_of(node)) return known;
    if (size() >= most_ && !make_room(now)) return std::nullopt;
    // A peer that comes back may have its former number.
    auto place = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) {
        return peer.node.empty() && peer.was == node;
    });
    if (place == peers_.end())
        place = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) {
            return peer.node.empty() && now >= peer.rests_until;
        });
    if (place == peers_.end()) {
        if (peers_.size() >= kMaxPeers) return std::nullopt;
        place = peers_.insert(peers_.end(), Peer());
    }
    ++changes_;
    *place = Peer();
    place->node = node;
    place->silent_since = now;
    return static_cast<Number>(place - peers_.begin());
}

/// Forgets the found peer that has been silent for longest.
bool Membership::make_room(TimePoint now) {
    std::optional<Number> longest;
    for (Number number = 0; number < peers_.size(); ++number) {
        const auto& peer = peers_[number];
        const auto* contact = peer.contact ? &contacts_.at(*peer.contact) : nullptr;
        const bool may_go = !peer.node.empty() && !peer.listed && !peer.heard &&
                            !(contact && (contact->up || contact->names > 0));
        if (may_go && (!longest || peer.silent_since < peers_[*longest].silent_since))
            longest = number;
    }
    if (longest) vacate(*longest, now);
    return longest.has_value();
}

Membership::ContactId Membership::add_contact(Contact contact) {
    ++changes_;
    contacts_.emplace(++last_, std::move(contact));
    return last_;
}

/// The peer is listed no longer. It goes, or stays because a name leads to it.
void Membership::unlist(Number number, TimePoint now) {
    auto& peer = peers_[number];
    if (!peer.contact) return;
    auto& contact = contacts_.at(*peer.contact);
    if (contact.names == 0) return remove_contact(*peer.contact, now);
    contact.listed = false;
    contact.node.clear();
    peer.place = contact.place;
}

void Membership::remove_contact(ContactId id, TimePoint now) {
    const auto known = contacts_.find(id);
    assert(known != contacts_.end());
    ++changes_;
    const auto peer = known->second.peer;
    const bool was_up = known->second.up;
    contacts_.erase(known);
    if (!peer || peers_[*peer].contact != id) return;
    leave_contact(*peer);
    if (was_up && !peers_[*peer].heard) peers_[*peer].silent_since = now;
    dial_again(*peer);
}

/// Another peer was or may have been reached there before.
void Membership::leave_other(ContactId id, const Contact& contact, Number number) {
    if (!contact.peer || *contact.peer == number) return;
    if (peers_[*contact.peer].contact == id) leave_contact(*contact.peer);
}

/// The peer is not reached at this place any longer.
void Membership::leave_contact(Number number) {
    auto& peer = peers_[number];
    ++changes_;
    peer.contact.reset();
    if (!peer.listed) peer.place = {};
}

void Membership::vacate(Number number, TimePoint now) {
    if (peers_[number].contact) remove_contact(*peers_[number].contact, now);
    for (auto& [id, contact] : contacts_) {
        if (contact.peer == number) contact.peer.reset();
    }
    ++changes_;
    Peer rests;
    rests.was = std::move(peers_[number].node);
    rests.rests_until = now + kNumberRests;
    peers_[number] = std::move(rests);
}

std::optional<Membership::ContactId> Membership::contact_at(const PeerPlace& place) const {
    const auto found = std::find_if(contacts_.begin(), contacts_.end(), [&](const auto& entry) {
        return entry.second.place.host == place.host &&
               entry.second.place.link_port == place.link_port;
    });
    if (found == contacts_.end()) return std::nullopt;
    return found->first;
}

std::size_t peers_provided_for(bool open, std::size_t peers, std::size_t before) {
    if (!open) return std::max<std::size_t>(peers, 1);
    constexpr std::size_t kStep = 4, kLeast = 8;
    auto provided = kLeast;
    while (provided < peers) provided *= kStep;
    const bool many_too_many = before > kLeast && peers * kStep * 2 <= before;
    return std::min(provided >= before || many_too_many ? provided : before, kMaxPeers);
}

}  // namespace protocol
