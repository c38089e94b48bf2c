#include "protocol/links/peer_links.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "protocol/links/dial_report.hpp"
#include "protocol/net/plain_address.hpp"
#include "protocol/wire/heartbeat.hpp"

namespace protocol {
namespace {

constexpr std::size_t kMaxFormerPeers = 1024;
/// In an open cluster an old node may be met late, after this node's start.
constexpr std::size_t kKeptForNewcomers = 16'384;
constexpr std::size_t kMaxUnansweredShown = 16;

}  // namespace

PeerLinks::PeerLinks(LinkContext& context, std::function<void()> moved)
    : context_(context),
      moved_(std::move(moved)),
      subscriptions_(context_, {[this](const auto& node, const auto& instance, const auto& from) {
                                    return admit(node, instance, from);
                                },
                                [this](std::size_t peer, const Instance& instance) {
                                    heard_of(peer, instance);
                                },
                                [this](std::size_t peer) { left(peer); }}),
      finder_(context_.executor, context_.config.dns, context_.config.timings.look_gap,
              [this](const DnsPeers& name, std::span<const PeerPlace> places) {
                  context_.membership.found(name, places, Clock::now());
                  follow_membership();
              }) {}

bool PeerLinks::bind_in_place_of(PeerLinks& earlier) {
    if (earlier.port() == 0) return false;
    subscriptions_.bind_in_place_of(earlier.subscriptions_);
    return true;
}

void PeerLinks::take_over(const PeerLinks& earlier) {
    former_ = earlier.former_;
    // The earlier peers come first, so that each keeps its number, and a former peer is remembered;
    // then the present peers.
    context_.membership.take_over(earlier.context_.membership, Clock::now());
    follow_membership();
    context_.invalidations.take_over(earlier.context_.invalidations);
    for (std::size_t number = 0; number < known_.size(); ++number) {
        if (!known_[number].empty()) subscriptions_.take_over(earlier.subscriptions_, number);
    }
}

void PeerLinks::go_on_from(const KeptInvalidations& earlier) {
    context_.invalidations.go_on_from(earlier);
    former_ = earlier.confirmed;
    forget_former();
}

KeptInvalidations::ConfirmedByNode PeerLinks::confirmed() const {
    auto all = former_;
    for (std::size_t number = 0; number < known_.size(); ++number)
        if (!known_[number].empty()) all[known_[number]] = context_.invalidations.standing(number);
    return all;
}

void PeerLinks::configure() {
    const auto& config = context_.config;
    context_.invalidations.keep_for_newcomers(config.dns_peers.empty() ? 0 : kKeptForNewcomers);
    context_.membership.configure(config.peers, config.dns_peers, Clock::now());
    follow_membership();
    finder_.look_for(config.dns_peers);
}

void PeerLinks::run(TaskGroup& tasks, const std::shared_ptr<void>& owner, bool listens) {
    tasks_ = &tasks;
    owner_ = owner;
    if (listens) tasks.spawn(subscriptions_.listen(tasks, owner));
    context_.show_view();
    for (auto& [contact, publication] : publications_) tasks.spawn(publish(owner, publication));
}

void PeerLinks::stop() {
    stopped_ = true;
    finder_.stop();
    for (auto& [contact, publication] : publications_) publication->retire();
    subscriptions_.close();
}

void PeerLinks::tidy() {
    context_.membership.tidy(Clock::now());
    follow_membership();
    watch_states();
    show_places();
}

/// Notes since when each peer is in its state, reports to peers why they are not dialled, and logs
/// trouble that is seen at no link's end.
void PeerLinks::watch_states() {
    const auto now = Clock::now();
    for (std::size_t number = 0; number < known_.size(); ++number) {
        if (known_[number].empty()) continue;
        context_.pulse(number).cannot_dial = cannot_dial(number);
        auto& shown = shown_[number];
        const auto state = state_of(number, now);
        if (state != shown.state) {
            if (shown.warned) context_.log.trouble_over(known_[number], name(state));
            shown = {state, now, false};
        }
        const bool lasts = now - shown.since >= context_.config.timings.gone_after;
        const bool is_trouble =
            state == PeerState::one_way || (state == PeerState::no_address && lasts);
        if (!is_trouble || std::exchange(shown.warned, true)) continue;
        context_.log.trouble(known_[number], name(state), cause_of(number, state));
    }
}

/// Lists the places that clients of the forward proxy must not reach.
void PeerLinks::show_places() {
    std::vector<PeerPlace> places;
    for (const auto& [id, contact] : context_.membership.contacts())
        places.push_back(contact.place);
    for (std::size_t number = 0; number < known_.size(); ++number) {
        if (known_[number].empty()) continue;
        if (const auto from = subscriptions_.came_from(number))
            places.push_back({plain_address(*from).to_string(), 0, 0});
    }
    context_.neighbours.set_places(std::move(places));
    if (tasks_ != nullptr && context_.neighbours.changed()) context_.show_view_soon();
}

void PeerLinks::wake() {
    for (auto& [contact, publication] : publications_) publication->wake();
}

void PeerLinks::invalidated() {
    for (auto& [contact, publication] : publications_) publication->invalidated();
}

void PeerLinks::say_goodbye() {
    context_.leaving = true;
    for (auto& [contact, publication] : publications_) publication->say_goodbye();
}

bool PeerLinks::any_up() const {
    return std::any_of(publications_.begin(), publications_.end(),
                       [](const auto& entry) { return entry.second->up(); });
}

PublisherLink* PeerLinks::publication_to(std::size_t number) const {
    const auto& contact = context_.membership.peers()[number].contact;
    if (!contact) return nullptr;
    const auto found = publications_.find(*contact);
    return found == publications_.end() ? nullptr : found->second.get();
}

bool PeerLinks::up(std::size_t peer) const {
    const auto* publication = publication_to(peer);
    return publication != nullptr && publication->up();
}

void PeerLinks::log_unplaced() {
    const auto& now = context_.membership.unplaced();
    if (now == unplaced_) return;
    for (const auto& node : now) {
        if (std::find(unplaced_.begin(), unplaced_.end(), node) != unplaced_.end()) continue;
        spdlog::warn(
            "node {}: listed peer {} has no place beside the found peers: the limit is reached "
            "(cluster.max_peers is {})",
            context_.config.node, node, context_.config.max_peers);
    }
    unplaced_ = now;
}

/// Carries out the membership's decisions: peers that have come or gone, and places to dial or to
/// leave.
void PeerLinks::follow_membership() {
    if (stopped_) return;
    log_unplaced();
    if (std::exchange(followed_, context_.membership.changes()) == context_.membership.changes())
        return;
    follow_peers();
    context_.beat_interval =
        beat_interval(context_.config.timings.heartbeat, context_.membership.size());
    follow_contacts();
    show_places();
    if (tasks_ != nullptr) context_.show_view_soon();
}

void PeerLinks::follow_peers() {
    const auto& peers = context_.membership.peers();
    if (known_.size() < peers.size()) known_.resize(peers.size());
    shown_.resize(known_.size());
    for (std::size_t number = 0; number < peers.size(); ++number) {
        const auto& peer = peers[number];
        if (known_[number] != peer.node) {
            if (!known_[number].empty()) remove_peer(number);
            known_[number] = peer.node;
            if (!peer.node.empty()) add_peer(number);
        }
        if (!peer.node.empty())
            context_.neighbours.place(number, context_.membership.asked_at(number).http());
    }
}

void PeerLinks::follow_contacts() {
    const auto& contacts = context_.membership.contacts();
    std::erase_if(publications_, [&](const auto& entry) {
        if (contacts.contains(entry.first)) return false;
        retire(*entry.second);
        return true;
    });
    for (const auto& [id, contact] : contacts) {
        auto& publication = publications_[id];
        if (!publication) {
            publication = make_publication(id, contact);
            if (context_.leaving) publication->say_goodbye();
            if (tasks_ != nullptr) tasks_->spawn(publish(owner_.lock(), publication));
        }
        const auto& peers = context_.membership.peers();
        const bool is_its_place = contact.peer && peers[*contact.peer].contact == id;
        if (!publication->up()) publication->set_peer(is_its_place ? contact.peer : std::nullopt);
        publication->expect(contact.node);
        publication->set_dialled(contact.dialled);
    }
}

std::shared_ptr<PublisherLink> PeerLinks::make_publication(Contact id,
                                                           const Membership::Contact& from) {
    PublisherLink::Hooks hooks;
    hooks.met = [this, id](const std::string& node, const Instance& instance) {
        return met(id, node, instance);
    };
    hooks.met_self = [this, id] {
        context_.membership.met_self(id, Clock::now());
        follow_membership();
    };
    hooks.changed = [this, id](bool up) { reached(id, up); };
    hooks.confirmed = moved_;
    return std::make_shared<PublisherLink>(context_, id, from.place, from.node, from.peer,
                                           std::move(hooks));
}

void PeerLinks::retire(PublisherLink& publication) {
    // A peer that is reached at another place now keeps the counters of this one.
    const auto peer = publication.peer();
    const bool stays =
        peer && !known_[*peer].empty() && known_[*peer] == context_.membership.peers()[*peer].node;
    publication.report(stays ? earlier_ways_[*peer] : gone_);
    publication.retire();
}

void PeerLinks::add_peer(std::size_t number) {
    const auto& node = known_[number];
    context_.neighbours.add_peer(number, node);
    context_.pulse(number) = {};
    shown_[number] = {PeerState::connecting, Clock::now(), false};
    subscriptions_.add_peer(number);
    context_.invalidations.add_peer(number);
    // A peer that comes back has to drop the content invalidated meanwhile.
    if (const auto was = former_.extract(node); !was.empty())
        context_.invalidations.came_back(number, was.mapped());
    if (tasks_ != nullptr) context_.log.joined(node);
}

void PeerLinks::remove_peer(std::size_t number) {
    const auto& node = known_[number];
    subscriptions_.report(number, gone_);
    if (const auto ways = earlier_ways_.extract(number); !ways.empty()) add(gone_, ways.mapped());
    ++peers_gone_;
    former_[node] = context_.invalidations.standing(number);
    forget_former();
    subscriptions_.remove_peer(number);
    context_.neighbours.remove_peer(number);
    context_.invalidations.remove_peer(number);
    moved_();  // its confirmation is awaited no longer
    if (tasks_ != nullptr) context_.log.left(node);
}

void PeerLinks::forget_former() {
    while (former_.size() > kMaxFormerPeers) {
        // An unknown peer that comes back gets all invalidations, or the order to drop everything.
        former_.erase(std::min_element(former_.begin(), former_.end(),
                                       [](const auto& one, const auto& other) {
                                           return one.second.number < other.second.number;
                                       }));
    }
}

Result<std::size_t> PeerLinks::met(Contact id, const std::string& node, const Instance& instance) {
    using Meeting = Membership::Meeting;
    if (stopped_) return make_error_code(Error::no_peer_any_more);
    const auto met = context_.membership.met(id, node, instance, Clock::now());
    follow_membership();
    switch (met.meeting) {
        case Meeting::peer:
            give_up_others(met.number, instance);
            return met.number;
        case Meeting::elsewhere:
            return make_error_code(Error::reached_elsewhere);
        case Meeting::duplicate:
            return make_error_code(Error::duplicate_id);
        case Meeting::full:
            return make_error_code(Error::too_many_peers);
        case Meeting::replaced:
            return make_error_code(Error::replaced);
        case Meeting::forgotten:
            break;
    }
    return make_error_code(Error::no_peer_any_more);
}

void PeerLinks::reached(Contact id, bool is_up) {
    if (stopped_) return;
    if (is_up) {
        context_.membership.up(id);
        return follow_membership();
    }
    context_.membership.down(id, Clock::now());
    finder_.look_now();
    follow_membership();
}

std::optional<std::size_t> PeerLinks::admit(const std::string& node, const Instance& instance,
                                            const boost::asio::ip::address& from) {
    if (stopped_) return std::nullopt;
    auto& membership = context_.membership;
    const bool is_new = !membership.number_of(node);
    const auto number = membership.came(node, instance, from.to_string(), Clock::now());
    follow_membership();
    if (is_new) finder_.look_now();  // DNS knows the node's place better than its connection does
    return number;
}

void PeerLinks::heard_of(std::size_t number, const Instance& instance) {
    context_.membership.heard(number, instance);
    follow_membership();
    give_up_others(number, instance);
    if (auto* publication = publication_to(number)) publication->heard_of(instance);
}

/// Ends links to other instances of this peer at its former places.
void PeerLinks::give_up_others(std::size_t number, const Instance& instance) {
    const auto* const its_own = publication_to(number);
    for (auto& [contact, publication] : publications_)
        if (publication->peer() == number && publication.get() != its_own)
            publication->give_up_other_instance(instance);
}

void PeerLinks::left(std::size_t number) {
    context_.membership.unheard(number, Clock::now());
    finder_.look_now();
}

awaitable<void> PeerLinks::publish([[maybe_unused]] std::shared_ptr<void> owner,
                                   std::shared_ptr<PublisherLink> publication) {
    co_await publication->run();
}

LastEnd PeerLinks::last_end_of(std::size_t number) const {
    ClusterStatus::Peer peer;
    if (const auto* publication = publication_to(number)) peer.last_end = publication->last_end();
    subscriptions_.report(number, peer);
    return peer.last_end;
}

/// The state of the link from the peer; without one, the state of the link to it.
PeerState PeerLinks::state_of(std::size_t number, Clock::time_point now) const {
    const auto state = subscriptions_.state(number);
    const bool has_left = state == PeerState::withdrawn;
    if (state != PeerState::connecting && state != PeerState::gone && !has_left) return state;
    const auto* const publication = publication_to(number);
    if (publication == nullptr) return state;
    if (const auto up_since = publication->up_since()) {
        if (context_.pulses[number].it_cannot_dial == kHasLeftReport) return PeerState::withdrawn;
        // It has heard this node since then, and should have dialled.
        const auto silent_since = subscriptions_.silent_since(number).value_or(now);
        // The standing link leads to the instance that said goodbye.
        if (has_left && *up_since <= silent_since) return state;
        const auto both = std::max(*up_since, silent_since);
        return now - both >= context_.config.timings.gone_after ? PeerState::one_way : state;
    }
    if (is_refusal(last_end_of(number).error)) return PeerState::refused;
    const bool begins = state == PeerState::connecting && publication->greeting();
    return begins ? PeerState::hello : state;
}

std::string PeerLinks::cause_of(std::size_t number, PeerState state) const {
    switch (state) {
        case PeerState::no_address:
            return why_without_address(number);
        case PeerState::one_way: {
            const auto reason = reason_in(context_.pulses[number].it_cannot_dial);
            return reason.empty()
                       ? "it makes no link to this node and reports no reason: check the link "
                         "address that it has for this node, and firewalls"
                       : "it cannot make its link to this node (" + reason +
                             "): check the link address that it has for this node";
        }
        case PeerState::refused:
        case PeerState::gone:
            return last_end_of(number).error.message();
        case PeerState::lagging:
            return "it has yet to confirm invalidations made while it was away";
        case PeerState::in_sync: {
            const auto* const publication = publication_to(number);
            if (publication == nullptr || publication->up() || !publication->last_end().error ||
                context_.leaving)
                return {};
            return "it is asked, but this node cannot make its link to it, so it lacks the summary "
                   "of this node (" +
                   publication->last_end().reason() + ')';
        }
        default:
            return {};
    }
}

const PublisherLink* PeerLinks::publication_at(const boost::asio::ip::address& address) const {
    const auto host = plain_address(address).to_string();
    for (const auto& [id, contact] : context_.membership.contacts())
        if (contact.place.host == host && !contact.peer && !contact.met_self)
            return publications_.at(id).get();
    return nullptr;
}

std::string PeerLinks::why_without_address(std::size_t number) const {
    std::string cause = "it is in step, but its address for requests is unknown";
    const auto from = subscriptions_.came_from(number);
    if (!from) return cause;
    const auto host = plain_address(*from).to_string();
    cause += "; its link comes from " + host;
    for (const auto& [id, contact] : context_.membership.contacts()) {
        if (contact.place.host != host) continue;
        const auto error = publications_.at(id)->last_end().reason();
        if (contact.met_self) return cause + ", the address of this node itself";
        if (contact.peer && contact.peer != number && !known_[*contact.peer].empty())
            return cause + ", where " + known_[*contact.peer] + " answers";
        if (!error.empty()) return cause + ", where no link can be made (" + error + ')';
    }
    return cause + ", to which no name leads";
}

/// The report to the peer about this node's link to it.
std::uint64_t PeerLinks::cannot_dial(std::size_t number) const {
    if (context_.leaving) return kHasLeftReport;
    if (context_.pulses[number].said_goodbye) return 0;
    const auto* publication = publication_to(number);
    if (publication == nullptr) {
        const auto from = subscriptions_.came_from(number);
        publication = from ? publication_at(*from) : nullptr;
    }
    if (publication == nullptr || publication->up()) return 0;
    return dial_report(publication->last_end().error);
}

std::vector<ReceivedReport> PeerLinks::received_reports() const {
    const auto now = Clock::now();
    std::vector<ReceivedReport> all;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].empty()) continue;
        const auto& last = subscriptions_.last_report(i);
        if (last.bytes.empty()) continue;
        const auto promised =
            i < context_.pulses.size() ? context_.pulses[i].promised : std::chrono::milliseconds(0);
        all.push_back({known_[i], last.bytes, now - last.at, promised});
    }
    return all;
}

void PeerLinks::report(ClusterStatus& status) const {
    const auto now = Clock::now();
    const auto count = [&](const LinkCounters& more) {
        add<LinkCounters>(status, more, kLinkCounters);
    };
    status.gone = gone_;
    status.peers_gone = peers_gone_;
    count(gone_);
    const auto& log = context_.invalidations;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].empty()) continue;
        auto& peer = status.peers.emplace_back();
        peer.node = known_[i];
        if (const auto ways = earlier_ways_.find(i); ways != earlier_ways_.end())
            add(peer, ways->second);
        if (const auto* publication = publication_to(i)) publication->report(peer);
        subscriptions_.report(i, peer);
        peer.state = state_of(i, now);
        if (shown_[i].state == peer.state)
            peer.state_seconds = std::chrono::duration<double>(now - shown_[i].since).count();
        peer.cause = cause_of(i, peer.state);
        peer.invalidations_sent = log.sent(i);
        peer.invalidations_confirmed = log.confirmed(i);
        peer.invalidations_pending = log.pending(i);
        count(peer);
    }
    for (const auto& [id, contact] : context_.membership.contacts()) {
        const auto& publication = *publications_.at(id);
        if (!contact.peer || publication_to(*contact.peer) != &publication) {
            ClusterStatus::Peer nobody;  // counted before a peer was there, or after it left
            publication.report(nobody);
            count(nobody);
        }
        if (contact.peer || !contact.dialled || status.unanswered.size() >= kMaxUnansweredShown)
            continue;
        const auto error = publication.last_end().reason();
        status.unanswered.push_back(contact.place.link().text() +
                                    (error.empty() ? "" : " (" + error + ')'));
    }
    status.unplaced = context_.membership.unplaced();
    status.names = finder_.report();
}

}  // namespace protocol
