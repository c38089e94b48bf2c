#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/cluster_config.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// How long a peer's number is not given to another. Whoever still works with an earlier view of
/// the peers means the one that had it.
inline constexpr std::chrono::minutes kNumberRests{2};
/// A place where this node met itself is tried again after so long: a load balancer may stand
/// there.
inline constexpr std::chrono::minutes kSelfAgain{1};

/// Who is in the cluster, and where to look for more. Peers are *listed* (named in the
/// configuration, at a fixed place) or *found*: a name of the configuration leads to their
/// addresses, or they have come to us and proved that they hold the cluster key. What a found one
/// is called is learnt by the hello.
///
/// A *contact* is a place that is dialled; a *peer* is a node, with a number that stays the same
/// while it is one. Function of (state, event, now): no I/O, no clock. One thread.
class Membership {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using ContactId = std::uint64_t;  // never used again
    using Number = std::size_t;       // index of a peer everywhere in this layer and above it

    struct Contact {
        PeerPlace place;
        std::string node;            // whom we expect; empty: whoever is there
        std::optional<Number> peer;  // whom we met there last
        bool listed = false;
        bool dialled = true;      // false: it is ourselves, or a peer that is reached elsewhere
        bool up = false;          // there is a link
        bool met_self = false;    // the last that answered there was this node
        Instance run{};           // that answered there last
        std::size_t sources = 0;  // names that lead there now
        TimePoint idle_since{};   // since when no name leads there, or no link is there
    };
    struct Peer {
        std::string node;                  // empty: nobody has this number
        std::optional<ContactId> contact;  // where it is dialled
        PeerPlace place;                   // where it is asked; no host: not known yet
        bool listed = false;
        bool heard = false;            // it has a link to us
        Instance heard_run{};          // whose link that is
        Instance instance{};           // the run that was met last
        std::optional<Instance> left;  // the run that said goodbye last
        TimePoint silent_since{};
        std::string was;          // who had the number, once it is nobody's,
        TimePoint rests_until{};  // which it is then for this long, but to the same
    };

    /// `most`: peers at once, 1 to kMaxPeers. A place that was found is forgotten when for
    /// `forget_after` no name has led there and nobody has answered; so is a peer that has no place
    /// and is silent.
    Membership(std::string self, std::size_t most, std::chrono::nanoseconds forget_after)
        : self_(std::move(self)), most_(most), forget_after_(forget_after) {}

    /// Goes on with the peers and places of `earlier`, as if they had been found; links are down.
    void take_over(const Membership& earlier, TimePoint now);

    /// From now on these are listed, and these names lead to more. Those that stay keep their
    /// numbers, and their places if these are the same; those that are listed no longer go, unless
    /// some name still leads to them, and so do those to whom only a name led that is no longer
    /// looked up.
    void configure(const std::vector<PeerConfig>& listed, const std::vector<DnsPeers>& names,
                   TimePoint now);

    /// A name leads to these places, and no others.
    void found(const DnsPeers& name, std::span<const PeerPlace> places, TimePoint now);

    enum class Meeting {
        peer,       // `number`; the link may be made
        elsewhere,  // a peer to which there is a link, or that is listed at another place
        duplicate,  // somebody else is reached under this name
        full,       // no room for another peer
        replaced,   // a run that has said goodbye, and another has its name by now
        forgotten,  // this place is of no interest any more
    };
    struct Met {
        Meeting meeting = Meeting::forgotten;
        Number number = 0;
    };
    /// `node` answers at this place.
    Met met(ContactId contact, const std::string& node, const Instance& instance, TimePoint now);
    void met_self(ContactId contact, TimePoint now);
    /// The link to this place is made, or has ended.
    void up(ContactId contact);
    void down(ContactId contact, TimePoint now);

    /// Might a node of this name become a peer by coming to us?
    bool admits(std::string_view node) const;
    /// It has come from this address, and holds the key. Nothing: there is no room for it.
    std::optional<Number> came(const std::string& node, const Instance& instance,
                               const std::string& address, TimePoint now);
    /// It has a link to us, of this run, or has no more.
    void heard(Number peer, const Instance& run);
    void unheard(Number peer, TimePoint now);
    /// That run has left: its name is free for another, wherever that is.
    void said_goodbye(Number peer, const Instance& run);

    /// Where this peer is to be asked; no host: not known. That is never where another run of it
    /// answered than the one that has the link to us: what that link promises is that run's.
    PeerPlace asked_at(Number peer) const;

    /// Forgets what is due. Call it now and then.
    void tidy(TimePoint now);

    const std::map<ContactId, Contact>& contacts() const { return contacts_; }
    /// By number; vacant ones have no name.
    const std::vector<Peer>& peers() const { return peers_; }
    std::optional<Number> number_of(std::string_view node) const;
    /// Who is listed and has found no room beside those that were found. tidy() tries again.
    const std::vector<std::string>& unplaced() const { return unplaced_; }
    std::size_t size() const;
    /// Another number as soon as peers, contacts or what they say has changed, but for who is up or
    /// heard and the runs that were met: in a large cluster that starts there is much of the
    /// latter.
    std::uint64_t changes() const { return changes_; }
    /// Do names lead to peers, so that others may come?
    bool is_open() const { return !names_.empty(); }

private:
    /// Places known at most: those of all peers, and some where nobody has answered yet.
    std::size_t most_contacts() const { return 2 * most_ + 16; }

    std::optional<Number> take_number(const std::string& node, TimePoint now);
    ContactId add_contact(Contact contact);
    void list_all(TimePoint now);
    void list(const PeerConfig& entry, TimePoint now);
    void unlist(Number peer, TimePoint now);
    bool make_room(TimePoint now);
    void leave_other(ContactId id, const Contact& contact, Number number);
    bool is_replaced(const Peer& peer, ContactId id) const;
    /// Does `change`, and notes whether the peer is to be asked elsewhere for it.
    template <class Change>
    void noting_place(Number peer, Change change) {
        const auto before = asked_at(peer);
        change();
        if (asked_at(peer) != before) ++changes_;
    }
    void remove_contact(ContactId id, TimePoint now);
    void leave_contact(Number peer);
    void vacate(Number peer, TimePoint now);
    std::optional<ContactId> contact_at(const PeerPlace& place) const;
    void dial_again(Number peer);

    std::string self_;
    std::size_t most_;
    std::chrono::nanoseconds forget_after_;
    std::vector<PeerConfig> listed_;
    std::vector<DnsPeers> names_;
    std::map<std::string, std::vector<ContactId>, std::less<>> led_to_;  // by name
    std::map<ContactId, Contact> contacts_;
    std::vector<Peer> peers_;
    ContactId last_ = 0;
    std::uint64_t changes_ = 0;
    std::vector<std::string> unplaced_;
};

/// For how many peers summaries are made: each shares the budget of false hits with all others. Of
/// those that come and go it is the next of 8, 32, 128, ..., so that summaries seldom change their
/// shape. `before`: what this said last, 0 if nothing.
std::size_t peers_provided_for(bool open, std::size_t peers, std::size_t before);

}  // namespace protocol
