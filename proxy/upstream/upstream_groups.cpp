#include "proxy/upstream/upstream_groups.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

using Change = UpstreamGroup::Change;

void log_change(Change change, const UpstreamGroupConfig& config, std::uint32_t mark,
                std::string_view why) {
    const auto server = std::ranges::find(config.servers, mark, &UpstreamServer::mark);
    if (change == Change::none || server == config.servers.end()) return;
    const auto place = server->place.text();
    if (change == Change::came_back)
        spdlog::info("{} of {} is up again", place, config.name);
    else
        spdlog::warn("{} of {} is down: {}", place, config.name, why);
}

}  // namespace

std::shared_ptr<UpstreamGroups::SharedGroup> UpstreamGroups::find(const Config& config) {
    std::shared_ptr<SharedGroup> found;
    {
        const std::lock_guard lock(mutex_);
        if (by_name_.size() >= sweep_at_) {
            // Beside this map only the turns own a group, and its configuration may be gone.
            std::erase_if(by_name_, [](const auto& entry) {
                if (entry.second.use_count() > 1) return false;
                const std::lock_guard last(entry.second->mutex);
                return entry.second->group.config().use_count() == 1;
            });
            sweep_at_ = 64 + 2 * by_name_.size();
        }
        auto& entry = by_name_[config->name];
        if (!entry) entry = std::make_shared<SharedGroup>();
        found = entry;
    }
    const std::lock_guard lock(found->mutex);
    if (found->group.config() != config) found->group.follow(config);
    return found;
}

UpstreamGroups::Turn::Turn(UpstreamGroups& groups, Config config, std::uint64_t spread,
                           bool may_try, std::uint32_t pin, Time now)
    : shared_(groups.find(config)), config_(std::move(config)) {
    {
        const std::lock_guard lock(shared_->mutex);
        auto& group = shared_->group;
        if (pin != 0) {
            const auto server = std::ranges::find(config_->servers, pin, &UpstreamServer::mark);
            if (server != config_->servers.end() && (group.is_up(pin) || !group.any_up()))
                order_.servers.push_back(
                    static_cast<std::uint8_t>(server - config_->servers.begin()));
        } else {
            if (group.config() != config_) group.follow(config_);
            order_ = group.order(spread, may_try, now);
        }
    }
    enter(now);
}

const UpstreamServer* UpstreamGroups::Turn::server() const {
    return at_ < order_.servers.size() ? &config_->servers[order_.servers[at_]] : nullptr;
}

void UpstreamGroups::Turn::enter(Time now) {
    entered_ = now;
    if (const auto* now_at = server()) {
        const std::lock_guard lock(shared_->mutex);
        shared_->group.began(now_at->mark);
        in_flight_ = true;
    }
}

void UpstreamGroups::Turn::leave() {
    if (!std::exchange(in_flight_, false)) return;
    const std::lock_guard lock(shared_->mutex);
    shared_->group.left(server()->mark);
}

void UpstreamGroups::Turn::next(Time now) {
    leave();
    ++at_;
    enter(now);
}

void UpstreamGroups::Turn::ended(UpstreamGroup::End end, Time now) {
    const auto* now_at = server();
    if (now_at == nullptr) return;
    auto change = Change::none;
    {
        const std::lock_guard lock(shared_->mutex);
        change = shared_->group.ended(now_at->mark, end, entered_, now);
    }
    log_change(change, *config_, now_at->mark, "requests fail");
}

void UpstreamGroups::checked(const Config& config, std::uint32_t mark, bool good,
                             std::string_view why, Time now) {
    const auto shared = find(config);
    auto change = Change::none;
    {
        const std::lock_guard lock(shared->mutex);
        change = shared->group.checked(mark, good, now);
    }
    log_change(change, *config, mark, why);
}

std::vector<UpstreamGroups::ServerCheckResult> UpstreamGroups::report(const Config& config,
                                                                      Time now) {
    const auto shared = find(config);
    std::vector<ServerCheckResult> all;
    const std::lock_guard lock(shared->mutex);
    for (const auto& server : config->servers) {
        auto& report = all.emplace_back();
        report.place = server.place.text();
        report.weight = server.weight;
        report.backup = server.backup;
        const auto* known = shared->group.find(server.mark);
        if (known == nullptr) continue;
        report.counts = *known;
        report.state = shared->group.state_of(*known, now);
    }
    return all;
}

std::vector<std::string> UpstreamGroups::candidates(const Config& config, std::uint64_t spread,
                                                    Time now) {
    const auto shared = find(config);
    UpstreamGroup copy;
    {
        const std::lock_guard lock(shared->mutex);
        copy = shared->group;
    }
    std::vector<std::string> places;
    if (copy.config() != config) copy.follow(config);
    for (const auto i : copy.order(spread, false, now).servers)
        places.push_back(config->servers[i].place.text());
    return places;
}

}  // namespace proxy
