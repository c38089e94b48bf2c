#include "protocol/links/peer_links.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "base/net/plain_address.hpp"
#include "protocol/links/link.hpp"
#include "protocol/wire/heartbeat.hpp"

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// In an open cluster an old node may be met late, after this node's start.
constexpr std::size_t kKeptForNewcomers = 16'384;
constexpr std::size_t kMaxUnansweredShown = 16;

[[noreturn]] void cannot_listen(const PeeringConfig& config, const error_code& error) {
    throw boost::system::system_error(error, "cannot listen for peers on " + config.listen->text());
}

tcp::endpoint listen_endpoint(const PeeringConfig& config, const asio::any_io_executor& executor) {
    error_code error;
    tcp::resolver resolver(executor);
    const auto flags = tcp::resolver::passive | tcp::resolver::numeric_service;
    const auto found =
        resolver.resolve(config.listen->host, std::to_string(config.listen->port), flags, error);
    if (error) cannot_listen(config, error);
    return found.begin()->endpoint();
}

/// Text of an unproven node, made fit for a log.
std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return text;
}

}  // namespace

PeerLinks::PeerLinks(PeeringServices& peering)
    : peering_(peering),
      feeds_(peering_, *this),
      listener_(peering_.executor),
      finder_(peering_.executor, peering_.config.dns, peering_.config.timings.look_gap,
              [this](const DnsPeers& name, std::span<const PeerPlace> places) {
                  peering_.membership.found(name, places, base::Clock::now());
                  follow_membership();
              }),
      states_(peering_, feeds_) {}

void PeerLinks::bind() {
    const auto& config = peering_.config;
    const auto endpoint = listen_endpoint(config, peering_.executor);
    if (const auto error = listener_.listen(endpoint)) cannot_listen(config, error);
}

bool PeerLinks::bind_in_place_of(PeerLinks& earlier) {
    if (earlier.port() == 0) return false;
    listener_.assign(earlier.listener_.release());
    return true;
}

void PeerLinks::take_over(const PeerLinks& earlier) {
    former_.know(earlier.former_.confirmed());
    // The earlier peers come first, so that each keeps its number, and a former peer is remembered;
    // then the present peers.
    peering_.membership.take_over(earlier.peering_.membership, base::Clock::now());
    follow_membership();
    peering_.invalidations.take_over(earlier.peering_.invalidations);
    for (std::size_t number = 0; number < known_.size(); ++number) {
        if (!known_[number].empty()) feeds_.take_over(earlier.feeds_, number);
    }
}

void PeerLinks::go_on_from(const InvalidationBacklog& earlier) {
    peering_.invalidations.go_on_from(earlier);
    former_.know(earlier.confirmed);
}

InvalidationBacklog::ConfirmedByNode PeerLinks::confirmed() const {
    auto all = former_.confirmed();
    for (std::size_t number = 0; number < known_.size(); ++number)
        if (!known_[number].empty()) all[known_[number]] = peering_.invalidations.standing(number);
    return all;
}

void PeerLinks::configure() {
    const auto& config = peering_.config;
    peering_.invalidations.keep_for_newcomers(config.dns_peers.empty() ? 0 : kKeptForNewcomers);
    peering_.membership.configure(config.peers, config.dns_peers, base::Clock::now());
    follow_membership();
    finder_.look_for(config.dns_peers);
}

void PeerLinks::run(bool listens) {
    running_ = true;
    if (listens) peering_.spawn(listen());
    peering_.show_view();
    for (auto& [contact, dialer] : peering_.peer_dialers) spawn(dialer);
}

void PeerLinks::spawn(const std::shared_ptr<PeerDialer>& dialer) {
    peering_.spawn(dialer->run(dialer));
}

void PeerLinks::stop() {
    stopped_ = true;
    finder_.stop();
    for (auto& [contact, dialer] : peering_.peer_dialers) dialer->retire();
    feeds_.close();
    listener_.close();
}

base::awaitable<void> PeerLinks::listen() {
    base::Listener::Hooks hooks;
    hooks.take = [this](tcp::socket&& socket, const tcp::endpoint&) {
        peering_.spawn(serve(std::move(socket)));
    };
    hooks.trouble = [this](const error_code& error, std::size_t) {
        peering_.log.ended("listening for peers", error, "", base::Clock::now());
    };
    auto listening = listener_.run(std::move(hooks));
    co_await std::move(listening);
}

base::awaitable<void> PeerLinks::serve(tcp::socket socket) {
    std::optional<SubscriberEnd> end;  // outlives the link, which speaks for it
    auto link = Link::accepted(std::move(socket), peering_.psk ? &peering_.psk->server() : nullptr);
    end.emplace(feeds_, link.remote_address(), fresh_nonce(), base::Clock::now());
    std::function<void()> settle = [this] { peering_.settle(); };
    const auto error =
        co_await link.run(*end, peering_.config.timings.gone_after, std::move(settle));
    end->over_because(error, base::Clock::now());
    peering_.settle();
    if (error != asio::error::operation_aborted) note_end(*end, link.remote(), error);
}

void PeerLinks::note_end(const SubscriberEnd& end, const std::string& remote,
                         const error_code& error) {
    if (end.peer())
        return peering_.log.ended("link from " + end.caller().name, error, remote,
                                  base::Clock::now());
    auto description =
        end.caller().name.empty() ? "" : "says that it is " + printable(end.caller().name);
    if (error == Error::wrong_node)
        description += " and looks for " + printable(end.caller().looks_for);
    const auto host = remote.substr(0, remote.rfind(':'));
    if (error == Error::connection_closed && end.awaits_proof())
        return peering_.log.left_unproven("link from " + host, printable(end.caller().name), error,
                                          base::Clock::now());
    if (error == Error::own_id && peering_.membership.is_open()) return peering_.log.met_self(host);
    // The node that replaces this one may be there already.
    const bool usual = error == Error::duplicate_id && peering_.leaving;
    peering_.log.failed("link from " + host, error, description, base::Clock::now(),
                        usual ? LinkLog::Expectation::usual : LinkLog::Expectation::none);
}

void PeerLinks::tidy() {
    peering_.membership.tidy(base::Clock::now());
    feeds_.tidy(base::Clock::now());
    follow_membership();
    states_.watch();
    show_places();
}

/// Lists the places that clients of the forward proxy must not reach.
void PeerLinks::show_places() {
    std::vector<PeerPlace> places;
    for (const auto& [id, contact] : peering_.membership.contacts())
        places.push_back(contact.place);
    for (std::size_t number = 0; number < known_.size(); ++number) {
        if (known_[number].empty()) continue;
        if (const auto from = feeds_.came_from(number))
            places.push_back({base::plain_address(*from).to_string(), 0, 0});
    }
    peering_.neighbours.set_places(std::move(places));
    if (running_ && peering_.neighbours.changed()) peering_.show_view_soon();
}

void PeerLinks::say_goodbye() {
    peering_.leaving = true;
    for (auto& [contact, dialer] : peering_.peer_dialers) dialer->say_goodbye();
}

void PeerLinks::log_unplaced() {
    const auto& now = peering_.membership.unplaced();
    if (now == unplaced_) return;
    for (const auto& node : now) {
        if (std::find(unplaced_.begin(), unplaced_.end(), node) != unplaced_.end()) continue;
        spdlog::warn(
            "node {}: listed peer {} has no place beside the found peers: the limit is reached "
            "(cluster.max_peers is {})",
            peering_.config.node, node, peering_.config.max_peers);
    }
    unplaced_ = now;
}

/// Carries out the membership's decisions: peers that have come or gone, and places to dial or to
/// leave.
void PeerLinks::follow_membership() {
    if (stopped_) return;
    log_unplaced();
    if (std::exchange(followed_, peering_.membership.changes()) == peering_.membership.changes())
        return;
    follow_peers();
    peering_.beat_interval =
        beat_interval(peering_.config.timings.heartbeat, peering_.membership.size());
    follow_contacts();
    show_places();
    if (running_) peering_.show_view_soon();
}

void PeerLinks::follow_peers() {
    const auto& peers = peering_.membership.peers();
    if (known_.size() < peers.size()) known_.resize(peers.size());
    for (std::size_t number = 0; number < peers.size(); ++number) {
        const auto& peer = peers[number];
        if (known_[number] != peer.node) {
            if (!known_[number].empty()) remove_peer(number);
            known_[number] = peer.node;
            if (!peer.node.empty()) add_peer(number);
        }
        if (!peer.node.empty())
            peering_.neighbours.place(number, peering_.membership.asked_at(number).http());
    }
}

void PeerLinks::follow_contacts() {
    PeerDialer::Owner& owner = *this;
    const auto& contacts = peering_.membership.contacts();
    std::erase_if(peering_.peer_dialers, [&](const auto& entry) {
        if (contacts.contains(entry.first)) return false;
        retire(*entry.second);
        return true;
    });
    for (const auto& [id, contact] : contacts) {
        auto& dialer = peering_.peer_dialers[id];
        if (!dialer) {
            dialer = std::make_shared<PeerDialer>(peering_, owner, id, contact.place, contact.node,
                                                  contact.peer);
            if (peering_.leaving) dialer->say_goodbye();
            if (running_) spawn(dialer);
        }
        const auto& peers = peering_.membership.peers();
        const bool is_its_place = contact.peer && peers[*contact.peer].contact == id;
        if (!dialer->up()) dialer->set_peer(is_its_place ? contact.peer : std::nullopt);
        dialer->expect(contact.node);
        dialer->set_dialled(contact.dialled);
    }
}

void PeerLinks::retire(PeerDialer& dialer) {
    // A peer that is reached at another place now keeps the counters of this one.
    const auto peer = dialer.peer();
    const bool stays =
        peer && !known_[*peer].empty() && known_[*peer] == peering_.membership.peers()[*peer].node;
    dialer.add_to(stays ? earlier_ways_[*peer] : former_.counters);
    dialer.retire();
}

void PeerLinks::add_peer(std::size_t number) {
    const auto& node = known_[number];
    peering_.neighbours.add_peer(number, node);
    peering_.pulse(number) = {};
    states_.add_peer(number, node);
    feeds_.add_peer(number, base::Clock::now());
    peering_.invalidations.add_peer(number);
    // A peer that comes back has to drop the content invalidated meanwhile.
    if (const auto was = former_.returns(node)) peering_.invalidations.came_back(number, *was);
    if (running_) peering_.log.joined(node);
}

void PeerLinks::remove_peer(std::size_t number) {
    const auto& node = known_[number];
    feeds_.add_to(number, base::Clock::now(), former_.counters);
    if (const auto ways = earlier_ways_.extract(number); !ways.empty())
        add(former_.counters, ways.mapped());
    former_.left(node, peering_.invalidations.standing(number));
    states_.remove_peer(number);
    feeds_.remove_peer(number);
    peering_.neighbours.remove_peer(number);
    peering_.invalidations.remove_peer(number);
    peering_.wake_waiting();  // its confirmation is awaited no longer
    if (running_) peering_.log.left(node);
}

base::Result<std::size_t> PeerLinks::met(Contact at, const std::string& node,
                                         const Instance& instance) {
    using Meeting = Membership::Meeting;
    if (stopped_) return make_error_code(Error::no_peer_any_more);
    const auto met = peering_.membership.met(at, node, instance, base::Clock::now());
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

void PeerLinks::met_self(Contact at) {
    peering_.membership.met_self(at, base::Clock::now());
    follow_membership();
}

void PeerLinks::reached(Contact at, bool is_up) {
    if (stopped_) return;
    if (is_up) {
        peering_.membership.up(at);
        return follow_membership();
    }
    peering_.membership.down(at, base::Clock::now());
    finder_.look_now();
    follow_membership();
}

std::optional<std::size_t> PeerLinks::admit(const std::string& node, const Instance& instance,
                                            const boost::asio::ip::address& from) {
    if (stopped_) return std::nullopt;
    auto& membership = peering_.membership;
    const bool is_new = !membership.number_of(node);
    const auto number = membership.came(node, instance, from.to_string(), base::Clock::now());
    follow_membership();
    if (is_new) finder_.look_now();  // DNS knows the node's place better than its connection does
    return number;
}

void PeerLinks::heard_of(std::size_t number, const Instance& instance) {
    peering_.membership.heard(number, instance);
    follow_membership();
    give_up_others(number, instance);
    if (auto* dialer = peering_.dialer_to(number)) dialer->heard_of(instance);
}

/// Ends links to other instances of this peer at its former places.
void PeerLinks::give_up_others(std::size_t number, const Instance& instance) {
    const auto* const its_own = peering_.dialer_to(number);
    for (auto& [contact, dialer] : peering_.peer_dialers)
        if (dialer->peer() == number && dialer.get() != its_own)
            dialer->give_up_other_instance(instance);
}

void PeerLinks::left(std::size_t number) {
    peering_.membership.unheard(number, base::Clock::now());
    finder_.look_now();
}

void PeerLinks::in_sync(std::size_t number, std::uint64_t objects,
                        const summary::Description& summary) {
    peering_.log.in_sync(known_[number], objects, summary.bits, summary.hashes);
}

std::vector<ReceivedReport> PeerLinks::received_reports() const {
    const auto now = base::Clock::now();
    std::vector<ReceivedReport> all;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].empty()) continue;
        const auto& last = feeds_.last_report(i);
        if (last.bytes.empty()) continue;
        const auto promised =
            i < peering_.pulses.size() ? peering_.pulses[i].promised : std::chrono::milliseconds(0);
        all.push_back({known_[i], last.bytes, now - last.at, promised});
    }
    return all;
}

void PeerLinks::add_to(ClusterStatus& status) const {
    const auto now = base::Clock::now();
    const auto count = [&](const LinkCounters& more) {
        add<LinkCounters>(status, more, kLinkCounters);
    };
    status.gone = former_.counters;
    status.peers_gone = former_.count;
    count(former_.counters);
    const auto& log = peering_.invalidations;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].empty()) continue;
        auto& peer = status.peers.emplace_back();
        peer.node = known_[i];
        if (const auto ways = earlier_ways_.find(i); ways != earlier_ways_.end())
            add(peer, ways->second);
        if (const auto* dialer = peering_.dialer_to(i)) dialer->add_to(peer);
        feeds_.add_to(i, now, peer);
        states_.show(i, peer);
        peer.renews = peering_.neighbours.renews(i);
        peer.invalidations.sent = log.sent(i);
        peer.invalidations.confirmed = log.confirmed(i);
        peer.invalidations.pending = log.pending(i);
        count(peer);
    }
    for (const auto& [id, contact] : peering_.membership.contacts()) {
        const auto& dialer = *peering_.peer_dialers.at(id);
        if (!contact.peer || peering_.dialer_to(*contact.peer) != &dialer) {
            ClusterStatus::Peer nobody;  // counted before a peer was there, or after it left
            dialer.add_to(nobody);
            count(nobody);
        }
        if (contact.peer || !contact.dialled || status.unanswered.size() >= kMaxUnansweredShown)
            continue;
        const auto error = dialer.last_end().reason();
        status.unanswered.push_back(contact.place.link().text() +
                                    (error.empty() ? "" : " (" + error + ')'));
    }
    status.unplaced = peering_.membership.unplaced();
    status.names = finder_.report();
}

}  // namespace protocol
