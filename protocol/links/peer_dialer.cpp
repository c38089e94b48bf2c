#include "protocol/links/peer_dialer.hpp"

#include <boost/asio/error.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPlaceWhileConnecting{100};
constexpr std::chrono::milliseconds kPlaceWhileSilent{500};

}  // namespace

PeerDialer::PeerDialer(PeeringServices& peering, Owner& owner, Membership::ContactId contact,
                       PeerPlace place, std::string node, std::optional<std::size_t> peer)
    : peering_(peering),
      owner_(&owner),
      contact_(contact),
      place_(std::move(place)),
      node_(std::move(node)),
      name_("link to " + (node_.empty() ? place_.link().text() : node_)),
      redial_(peering.config.timings.reconnect_min, peering.config.timings.reconnect_max),
      security_(peering.config.security),
      pause_(peering.executor) {
    kept_.peer = peer;
}

bool PeerDialer::pending() const {
    return kept_.peer && peering_.invalidations.pending(*kept_.peer) > 0;
}

base::awaitable<void> PeerDialer::run([[maybe_unused]] std::shared_ptr<PeerDialer> self) {
    while (!retired()) {
        const auto due = redial_.due(pending());
        if (base::Clock::now() < due) {
            pause_.expires_at(due);
            co_await pause_.async_wait(base::as_result);
            continue;
        }
        const auto error = co_await dial_and_publish();
        if (retired()) break;
        if (error == asio::error::operation_aborted) co_return;
        redial_.ended(pending(), base::Clock::now());
    }
    peering_.hello_backlog.forget_contact(contact_);
}

void PeerDialer::retire() {
    owner_ = nullptr;
    pause_.cancel();
    if (end_) end_->close(make_error_code(Error::no_peer_any_more));
}

void PeerDialer::set_dialled(bool dialled) {
    if (redial_.set_dialled(dialled)) pause_.cancel();
}

base::awaitable<error_code> PeerDialer::dial_and_publish() {
    auto permit = co_await peering_.dial_permits.take();
    if (!permit.held()) co_return asio::error::make_error_code(asio::error::operation_aborted);
    // The wait for a permit may have been long.
    if (retired() || redial_.rests(pending())) co_return make_error_code(Error::no_peer_any_more);
    auto socket = co_await connect(permit);
    if (!socket) {
        security_.ended(socket.error(), false, false);
        note_end(socket.error(), false, place_.link().text());
        co_return socket.error();
    }
    if (!permit.held()) permit = co_await peering_.dial_permits.take();
    if (!permit.held()) co_return asio::error::make_error_code(asio::error::operation_aborted);
    if (retired()) co_return make_error_code(Error::no_peer_any_more);
    const auto key = security_.key();
    auto link = Link::dialled(std::move(*socket), key ? &peering_.psk->client(*key) : nullptr);
    co_return co_await publish(link, permit);
}

base::awaitable<base::Result<tcp::socket>> PeerDialer::connect(DialPermits::Permit& permit) {
    const auto limit = peering_.config.timings.connect;
    const auto endpoints =
        co_await peering_.resolver.resolve(place_.link(), base::Clock::now() + limit);
    if (!endpoints) co_return endpoints.error();
    std::vector<asio::ip::address> addresses;  // the peer's own link probably comes from there
    for (const auto& endpoint : *endpoints) addresses.push_back(endpoint.address());
    peering_.hello_backlog.expect(contact_, std::move(addresses));
    // A place without an answer causes no work, and must delay no other.
    asio::steady_timer slow(peering_.executor, kPlaceWhileConnecting);
    permit.give_back_at(slow);
    auto where = place_.link().text();
    auto socket =
        co_await peering_.dialer.connect(std::move(where), *endpoints, base::Clock::now() + limit);
    co_return socket;
}

base::awaitable<error_code> PeerDialer::publish(Link& link, DialPermits::Permit& permit) {
    // The permit lasts as long as the hello, because a hello that is slow for lack of CPU time gets
    // slower by every other. A place that was silent during the last one must delay no other: a
    // stopped process still accepts connections.
    asio::steady_timer silent(peering_.executor, kPlaceWhileSilent);
    if (was_silent_) permit.give_back_at(silent);
    PublisherEnd::Owner& owner = *this;
    end_.emplace(peering_, owner, kept_, node_, fresh_nonce(), base::Clock::now());
    dial_permit_ = &permit;
    const auto began = base::Clock::now();
    std::function<void()> settle = [this] { peering_.settle(); };
    const auto error =
        co_await link.run(*end_, peering_.config.timings.gone_after, std::move(settle));
    dial_permit_ = nullptr;
    const bool was_up = end_->up();
    const bool was_late = error == Error::hello_timeout;
    if (was_late && !was_silent_) peering_.dial_permits.hello_was_late();
    was_silent_ = was_late && end_->met_silence();
    security_.ended(error, was_up,
                    kept_.peer && peering_.neighbours.comes_in_the_clear(*kept_.peer));
    end_->leave();
    end_.reset();
    if (std::exchange(given_up_, false)) kept_.peer.reset();  // another instance has taken its peer
    if (was_up) redial_.link_lasted(base::Clock::now() - began);
    if (retired()) co_return error;
    note_end(error, was_up, link.remote());
    if (!was_up) co_return error;
    judge_absence();
    if (!retired()) owner_->reached(contact_, false);
    peering_.wake_waiting();
    co_return error;
}

base::Result<std::size_t> PeerDialer::met(const std::string& node, const Instance& instance) {
    const auto peer = owner_->met(contact_, node, instance);
    if (!peer) return peer;
    name_ = "link to " + node;
    return peer;
}

void PeerDialer::met_self() {
    if (!retired()) owner_->met_self(contact_);
}

void PeerDialer::up_now() {
    dial_permit_->held() ? peering_.dial_permits.hello_succeeded()
                         : peering_.dial_permits.hello_was_late();
    dial_permit_->give_back();
    peering_.log.up(name_);
    last_end_ = {};
    peering_.pulse(*kept_.peer).cannot_dial = 0;
    redial_.linked();
    owner_->reached(contact_, true);
}

void PeerDialer::confirmed() {
    peering_.wake_waiting();
}

void PeerDialer::note_end(const error_code& error, bool was_up, std::string_view where) {
    if (error == asio::error::operation_aborted) return;  // this node stops
    if (!redial_.dialled()) return;  // a peer reached at another place, or this node itself
    const auto now = base::Clock::now();
    last_end_ = {error, now};
    if (was_up) {
        peering_.log.ended(name_, error, where, now, expectation(error));
    } else {
        peering_.log.failed(name_, error, where, now, expectation(error));
    }
}

LinkLog::Expectation PeerDialer::expectation(const error_code& error) const {
    if (error == Error::replaced) return LinkLog::Expectation::lasting;
    if (node_.empty() && !kept_.peer) return LinkLog::Expectation::usual;
    const bool has_left =
        kept_.peer && peering_.pulse(*kept_.peer).said_goodbye && !is_refusal(error);
    return has_left ? LinkLog::Expectation::lasting : LinkLog::Expectation::none;
}

void PeerDialer::invalidated() {
    if (up()) {
        if (end_->finished()) redial_.again_at_once();
        return end_->wake();
    }
    judge_absence();
    if (kept_.leaving) {
        redial_.hurry();
        pause_.cancel();
    }
}

/// The link is down. The peer may store content that it has yet to drop, and may have given it to
/// others.
void PeerDialer::judge_absence() {
    if (!kept_.peer) return;
    peering_.neighbours.set_lagging(*kept_.peer, pending());
    peering_.settle();
}

void PeerDialer::say_goodbye() {
    kept_.leaving = true;
    redial_.leave();
    pause_.cancel();
    if (end_) end_->say_goodbye();
}

void PeerDialer::heard_of(const Instance& instance) {
    if (!redial_.dialled()) return;
    if (end_ && end_->reaches(instance)) return;
    redial_.heard();
    if (up()) {
        end_->close(make_error_code(Error::restarted));
    } else {
        pause_.cancel();
    }
}

void PeerDialer::give_up_other_instance(const Instance& instance) {
    if (!up() || end_->reaches(instance)) return;
    given_up_ = true;
    end_->close(make_error_code(Error::restarted));
}

void PeerDialer::add_to(ClusterStatus::Peer& status) const {
    status.publishing = up();
    add<LinkCounters>(status, counters(), kLinkCounters);
    status.last_end.take_later(last_end_);
}

}  // namespace protocol
