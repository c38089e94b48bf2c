#include "proxy/upstream/upstream_group.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "summary/sizing/key_hash.hpp"

namespace proxy {
namespace {

/// Weighted rendezvous hashing: the server with the highest value has the key. A server's share is
/// its part of all weights, and its loss moves its own keys alone.
double rendezvous_value(std::uint64_t spread, std::uint32_t mark, double weight) {
    constexpr double kSteps = 9007199254740992.0;  // 2^53
    const auto place =
        (static_cast<double>(summary::mix(spread ^ summary::mix(mark)) >> 11) + 0.5) / kSteps;
    return -weight / std::log(place);
}

}  // namespace

void UpstreamGroup::follow(std::shared_ptr<const UpstreamGroupConfig> config) {
    std::vector<Server> servers(config->servers.size());
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const auto mark = config->servers[i].mark;
        if (const auto* known = find(mark)) servers[i] = *known;
        servers[i].mark = mark;
        // Without checks nothing would put it back.
        if (config->health.path.empty()) servers[i].was_checked = servers[i].checked_down = false;
    }
    const auto stays = [&](const Server& one) {
        return std::ranges::find(servers, one.mark, &Server::mark) != servers.end();
    };
    former_.insert(former_.end(), servers_.begin(), servers_.end());
    std::erase_if(former_, stays);
    if (former_.size() > kMaxUpstreams)
        former_.erase(former_.begin(), former_.end() - static_cast<std::ptrdiff_t>(kMaxUpstreams));
    servers_ = std::move(servers);
    config_ = std::move(config);
}

const UpstreamGroup::Server* UpstreamGroup::find(std::uint32_t mark) const {
    for (const auto* all : {&servers_, &former_}) {
        const auto found = std::ranges::find(*all, mark, &Server::mark);
        if (found != all->end()) return &*found;
    }
    return nullptr;
}

UpstreamGroup::Server* UpstreamGroup::at(std::uint32_t mark) {
    for (auto* all : {&servers_, &former_}) {
        const auto found = std::ranges::find(*all, mark, &Server::mark);
        if (found != all->end()) return &*found;
    }
    return nullptr;
}

ServerState UpstreamGroup::state_of(const Server& server, Time now) const {
    if (!server.is_up()) return ServerState::down;
    return server.recovered && now - server.back_at < config_->slow_start ? ServerState::slow_start
                                                                          : ServerState::up;
}

double UpstreamGroup::weight_of(std::size_t index, Time now) const {
    const auto& server = servers_[index];
    const double weight = config_->servers[index].weight;
    if (state_of(server, now) != ServerState::slow_start) return weight;
    const auto part = std::chrono::duration<double>(now - server.back_at) /
                      std::chrono::duration<double>(config_->slow_start);
    return weight * std::max(part, kSlowStartShare);
}

bool UpstreamGroup::is_up(std::uint32_t mark) const {
    const auto* server = find(mark);
    return server != nullptr && server->is_up();
}

bool UpstreamGroup::any_up() const {
    return std::ranges::any_of(servers_, [](const Server& server) { return server.is_up(); });
}

/// Puts the servers of one kind into the order of their choice.
void UpstreamGroup::sort(std::vector<std::uint8_t>& servers, std::uint64_t spread, Time now) {
    if (servers.size() < 2 || config_->balance == Balance::in_order) return;
    std::vector<std::pair<double, std::uint8_t>> ranked;
    ranked.reserve(servers.size());
    if (config_->balance == Balance::rendezvous) {
        for (const auto i : servers)
            ranked.emplace_back(-rendezvous_value(spread, servers_[i].mark, weight_of(i, now)), i);
    } else {
        // Each turn raises every server by its weight, and takes all of that from the chosen one.
        // So a server of weight 2 among 2 gets every other request, never two in a row of four.
        double sum = 0;
        const auto is_least = config_->balance == Balance::least_in_flight;
        for (const auto i : servers) {
            const auto weight = weight_of(i, now);
            sum += weight;
            servers_[i].turn += weight;
            ranked.emplace_back(is_least ? (servers_[i].in_flight + 1) / weight : 0, i);
        }
        std::ranges::sort(ranked, [this](const auto& a, const auto& b) {
            if (a.first != b.first) return a.first < b.first;
            return servers_[a.second].turn > servers_[b.second].turn;
        });
        servers_[ranked.front().second].turn -= sum;
    }
    if (config_->balance == Balance::rendezvous) std::ranges::sort(ranked);
    for (std::size_t i = 0; i < servers.size(); ++i) servers[i] = ranked[i].second;
}

UpstreamGroup::Order UpstreamGroup::order(std::uint64_t spread, bool may_try, Time now) {
    Order out;
    out.all_down = !any_up();
    for (const auto backups : {false, true}) {
        std::vector<std::uint8_t> kind;
        for (std::size_t i = 0; i < servers_.size(); ++i)
            if (config_->servers[i].backup == backups && (out.all_down || servers_[i].is_up()))
                kind.push_back(static_cast<std::uint8_t>(i));
        sort(kind, spread, now);
        out.servers.insert(out.servers.end(), kind.begin(), kind.end());
    }
    if (!may_try || !config_->health.path.empty()) return out;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        auto& server = servers_[i];
        if (!server.ejected || server.checked_down || now < server.try_again_at) continue;
        server.pause = std::min<std::chrono::nanoseconds>(2 * server.pause, kServerPauseMax);
        server.try_again_at = now + server.pause;
        std::erase(out.servers, static_cast<std::uint8_t>(i));
        out.servers.insert(out.servers.begin(), static_cast<std::uint8_t>(i));
        out.trial = true;
        break;
    }
    return out;
}

void UpstreamGroup::began(std::uint32_t mark) {
    auto* server = at(mark);
    if (server == nullptr) return;
    ++server->requests;
    ++server->in_flight;
}

void UpstreamGroup::left(std::uint32_t mark) {
    auto* server = at(mark);
    if (server != nullptr && server->in_flight > 0) --server->in_flight;
}

void UpstreamGroup::came_back(Server& server, Time now) {
    server.back_at = now;
    server.recovered = true;
    server.turn = 0;
}

UpstreamGroup::Change UpstreamGroup::ended(std::uint32_t mark, End end, Time began, Time now) {
    auto* server = at(mark);
    if (server == nullptr) return Change::none;
    const auto was_up = server->is_up();
    if (end != End::answered) ++server->failures;
    if (end == End::unreachable && began < server->answered_at) return Change::none;
    if (end != End::unreachable) {
        server->answered_at = now;
        server->failures_in_row = 0;
        server->ejected = false;
        if (was_up || !server->is_up()) return Change::none;
        came_back(*server, now);
        return Change::came_back;
    }
    if (++server->failures_in_row < kServerFailures || server->ejected) return Change::none;
    server->ejected = true;
    server->pause = kServerPauseFirst;
    server->try_again_at = now + server->pause;
    return was_up ? Change::went_down : Change::none;
}

UpstreamGroup::Change UpstreamGroup::checked(std::uint32_t mark, bool good, Time now) {
    auto* server = at(mark);
    if (server == nullptr) return Change::none;
    const auto was_up = server->is_up();
    const auto is_first = !std::exchange(server->was_checked, true);
    // A good check also ends a pause after failed requests, as it is a request that was answered.
    const auto agrees = good == was_up;
    server->checks_against = agrees ? 0 : server->checks_against + 1;
    if (agrees || (!is_first && server->checks_against < kChecksToChange)) return Change::none;
    server->checks_against = 0;
    server->checked_down = !good;
    if (!good) return Change::went_down;
    server->ejected = false;
    server->failures_in_row = 0;
    came_back(*server, now);
    return Change::came_back;
}

}  // namespace proxy
