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

#include "protocol/membership/peering_config.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// A peer's number rests for this time before another node gets it, since users of an earlier view
/// still mean the former peer.
inline constexpr std::chrono::minutes kNumberRests{2};
/// A place where this node met itself is tried again after this time, as a load balancer may stand
/// there.
inline constexpr std::chrono::minutes kSelfAgain{1};

/// The nodes of the cluster, and the places where more may be. Peers are *listed* (named in the
/// configuration, at a fixed place) or *found*: a name of the configuration leads to their address,
/// or they have come and proved that they have the cluster key. The hello reveals the name of a
/// found peer.
///
/// A *contact* is a place that this node dials. A *peer* is a node, with a number that stays the
/// same while it is a peer. Function of (state, event, now), free of I/O and clock. One thread.
class Membership {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using ContactId = std::uint64_t;  // unique for ever
    using Number = std::size_t;       // index of a peer in this layer and above it

    struct Contact {
        PeerPlace place;
        std::string node;            // the expected node; empty: any
        std::optional<Number> peer;  // the peer last met there
        bool listed = false;
        bool dialled = true;     // false: this node itself, or a peer reached at another place
        bool up = false;         // the link is up
        bool met_self = false;   // this node itself answered there last
        Instance instance{};     // of the node that answered there last
        std::size_t names = 0;   // that lead there now
        TimePoint idle_since{};  // time since when it has neither a name nor a link
    };
    struct Peer {
        std::string node;                  // empty: the number is free
        std::optional<ContactId> contact;  // the place where it is dialled
        PeerPlace place;                   // the place where it is asked; empty host: unknown
        bool listed = false;
        bool heard = false;            // it has a link to this node
        Instance heard_instance{};     // the instance that has this link
        Instance instance{};           // the instance met last
        std::optional<Instance> left;  // the instance that said goodbye last
        TimePoint silent_since{};
        std::string was;          // last owner of a free number,
        TimePoint rests_until{};  // which only this owner gets before this time
    };

    /// `most`: limit of peers, 1 to kMaxPeers. A found place is forgotten when for `forget_after`
    /// it has had neither a name nor an answer; so is a silent peer without a place.
    Membership(std::string self, std::size_t most, std::chrono::nanoseconds forget_after)
        : self_(std::move(self)), most_(most), forget_after_(forget_after) {}

    /// Takes the peers and places of `earlier` as found ones, with their links down.
    void take_over(const Membership& earlier, TimePoint now);

    /// Replaces the listed peers and the names. Remaining peers keep their numbers, and their
    /// places if these are the same. A peer that is listed no longer goes, unless a name still
    /// leads to it. A peer to which only a dropped name led goes too.
    void configure(const std::vector<PeerConfig>& listed, const std::vector<DnsPeers>& names,
                   TimePoint now);

    /// A name leads to exactly these places now.
    void found(const DnsPeers& name, std::span<const PeerPlace> places, TimePoint now);

    enum class Meeting {
        peer,       // known under `number`; the link may be made
        elsewhere,  // a peer that is linked already, or listed at another place
        duplicate,  // another node is reached under this name
        full,       // too many peers
        replaced,   // the instance has said goodbye, and another instance has taken its name
        forgotten,  // the place has been dropped
    };
    struct MeetingResult {
        Meeting meeting = Meeting::forgotten;
        Number number = 0;
    };
    /// `node` has answered at this place.
    MeetingResult met(ContactId contact, const std::string& node, const Instance& instance,
                      TimePoint now);
    void met_self(ContactId contact, TimePoint now);
    /// The link to this place has come up, or has ended.
    void up(ContactId contact);
    void down(ContactId contact, TimePoint now);

    /// Whether a node of this name may become a peer by coming to this node.
    bool admits(std::string_view node) const;
    /// The node has come from this address, and has the cluster key. Returns nullopt when there are
    /// too many peers.
    std::optional<Number> came(const std::string& node, const Instance& instance,
                               const std::string& address, TimePoint now);
    /// The peer's link to this node, made by this instance, has come up, or has ended.
    void heard(Number peer, const Instance& instance);
    void unheard(Number peer, TimePoint now);
    /// This instance has left, so another instance may take its name, at any place.
    void said_goodbye(Number peer, const Instance& instance);

    /// The place where this peer is asked; empty host: unknown. It is always the place of the
    /// instance that has the link to this node, since the summary on that link describes that
    /// instance.
    PeerPlace asked_at(Number peer) const;

    /// Forgets what is due. Called at each heartbeat.
    void tidy(TimePoint now);

    const std::map<ContactId, Contact>& contacts() const { return contacts_; }
    /// By number; a free number has an empty name.
    const std::vector<Peer>& peers() const { return peers_; }
    std::optional<Number> number_of(std::string_view node) const;
    /// Listed peers that exceed the limit beside the found ones. tidy() tries them again.
    const std::vector<std::string>& unplaced() const { return unplaced_; }
    std::size_t size() const;
    /// Changes with the peers, the contacts and their data. Links and the instances met are left
    /// out, since they change very often while a large cluster starts.
    std::uint64_t changes() const { return changes_; }
    /// Whether names lead to peers, so that unlisted nodes may come.
    bool is_open() const { return !names_.empty(); }

private:
    /// Limit of known places: those of all peers, and some that are still unanswered.
    std::size_t most_contacts() const { return 2 * most_ + 16; }

    std::optional<Number> take_number(const std::string& node, TimePoint now);
    ContactId add_contact(Contact contact);
    void list_all(TimePoint now);
    void list(const PeerConfig& entry, TimePoint now);
    void unlist(Number peer, TimePoint now);
    bool make_room(TimePoint now);
    void leave_other(ContactId id, const Contact& contact, Number number);
    bool is_replaced(const Peer& peer, ContactId id) const;
    /// Runs `change`, and counts a change of the place where the peer is asked.
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

/// The number of peers for which a summary is sized, as all of them share the budget of false hits.
/// With an open membership it is the next of 8, 32, 128, ..., so that summaries seldom change their
/// shape. `before`: the previous result, or 0.
std::size_t peers_provided_for(bool open, std::size_t peers, std::size_t before);

}  // namespace protocol
