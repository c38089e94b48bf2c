#include "protocol/links/peer_states.hpp"

#include <algorithm>
#include <utility>

#include "base/net/plain_address.hpp"
#include "protocol/links/dial_report.hpp"
#include "protocol/wire/heartbeat.hpp"

namespace protocol {

void PeerStates::add_peer(std::size_t number, std::string node) {
    if (shown_.size() <= number) shown_.resize(number + 1);
    shown_[number] = {std::move(node), PeerState::connecting, base::Clock::now(), false};
}

void PeerStates::show(std::size_t number, ClusterStatus::Peer& status) const {
    const auto now = base::Clock::now();
    const auto& shown = shown_[number];
    status.state = state_of(number, now);
    if (shown.state == status.state)
        status.state_seconds = std::chrono::duration<double>(now - shown.since).count();
    status.cause = cause_of(number, status.state);
}

/// Notes since when each peer is in its state, reports to peers why they are not dialled, and logs
/// trouble that is seen at no link's end.
void PeerStates::watch() {
    const auto now = base::Clock::now();
    for (std::size_t number = 0; number < shown_.size(); ++number) {
        auto& shown = shown_[number];
        if (shown.node.empty()) continue;
        auto& pulse = context_.pulse(number);
        const auto report = cannot_dial(number);
        if (std::exchange(pulse.cannot_dial, report) != report) pulse.wake_subscriber();
        const auto state = state_of(number, now);
        if (state != shown.state) {
            if (shown.warned) context_.log.trouble_over(shown.node, name(state));
            shown.state = state;
            shown.since = now;
            shown.warned = false;
        }
        const bool lasts = now - shown.since >= context_.config.timings.gone_after;
        const bool is_trouble =
            state == PeerState::one_way || (state == PeerState::no_address && lasts);
        if (!is_trouble || std::exchange(shown.warned, true)) continue;
        context_.log.trouble(shown.node, name(state), cause_of(number, state));
    }
}

LastEnd PeerStates::last_end_of(std::size_t number) const {
    ClusterStatus::Peer peer;
    if (const auto* dialer = context_.dialer_to(number)) peer.last_end = dialer->last_end();
    feeds_.add_to(number, base::Clock::now(), peer);
    return peer.last_end;
}

/// The state of the link from the peer; without one, the state of the link to it.
PeerState PeerStates::state_of(std::size_t number, base::Clock::time_point now) const {
    const auto state = feeds_.state(number);
    const bool has_left = state == PeerState::withdrawn;
    if (state != PeerState::connecting && state != PeerState::gone && !has_left) return state;
    const auto* const dialer = context_.dialer_to(number);
    if (dialer == nullptr) return state;
    if (const auto up_since = dialer->up_since()) {
        if (context_.pulses[number].it_cannot_dial == kHasLeftReport) return PeerState::withdrawn;
        // It has heard this node since then, and should have dialled.
        const auto silent_since = feeds_.silent_since(number).value_or(now);
        // The standing link leads to the instance that said goodbye.
        if (has_left && *up_since <= silent_since) return state;
        const auto both = std::max(*up_since, silent_since);
        return now - both >= context_.config.timings.gone_after ? PeerState::one_way : state;
    }
    if (is_refusal(last_end_of(number).error)) return PeerState::refused;
    const bool begins = state == PeerState::connecting && dialer->greeting();
    return begins ? PeerState::hello : state;
}

std::string PeerStates::cause_of(std::size_t number, PeerState state) const {
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
            const auto* const dialer = context_.dialer_to(number);
            if (dialer == nullptr || dialer->up() || !dialer->last_end().error || context_.leaving)
                return {};
            return "it is asked, but this node cannot make its link to it, so it lacks the summary "
                   "of this node (" +
                   dialer->last_end().reason() + ')';
        }
        default:
            return {};
    }
}

const PeerDialer* PeerStates::dialer_at(const boost::asio::ip::address& address) const {
    const auto host = base::plain_address(address).to_string();
    for (const auto& [id, contact] : context_.membership.contacts())
        if (contact.place.host == host && !contact.peer && !contact.met_self)
            return context_.peer_dialers.at(id).get();
    return nullptr;
}

std::string PeerStates::why_without_address(std::size_t number) const {
    std::string cause = "it is in step, but its address for requests is unknown";
    const auto from = feeds_.came_from(number);
    if (!from) return cause;
    const auto host = base::plain_address(*from).to_string();
    cause += "; its link comes from " + host;
    for (const auto& [id, contact] : context_.membership.contacts()) {
        if (contact.place.host != host) continue;
        const auto error = context_.peer_dialers.at(id)->last_end().reason();
        if (contact.met_self) return cause + ", the address of this node itself";
        if (contact.peer && contact.peer != number && !shown_[*contact.peer].node.empty())
            return cause + ", where " + shown_[*contact.peer].node + " answers";
        if (!error.empty()) return cause + ", where no link can be made (" + error + ')';
    }
    return cause + ", to which no name leads";
}

/// The report to the peer about this node's link to it.
std::uint64_t PeerStates::cannot_dial(std::size_t number) const {
    if (context_.leaving) return kHasLeftReport;
    if (context_.pulses[number].said_goodbye) return 0;
    const auto* dialer = context_.dialer_to(number);
    if (dialer == nullptr) {
        const auto from = feeds_.came_from(number);
        dialer = from ? dialer_at(*from) : nullptr;
    }
    if (dialer == nullptr || dialer->up()) return 0;
    return dial_report(dialer->last_end().error);
}

}  // namespace protocol
