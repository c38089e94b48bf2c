#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/config/upstreams.hpp"
#include "proxy/upstream/upstream_group.hpp"

namespace proxy {

/// The groups of all workers of a node, so that a server that one worker finds down is down for
/// all. Any thread; each group has a lock of its own, which no wait holds. A group ends with the
/// last configuration that has it.
class UpstreamGroups {
    struct SharedGroup {
        std::mutex mutex;
        UpstreamGroup group;
    };

public:
    using Time = UpstreamGroup::Time;
    using Config = std::shared_ptr<const UpstreamGroupConfig>;

    /// The servers that one request may go to, one after the other. It counts as in flight at the
    /// present one. One thread at a time.
    class Turn {
    public:
        /// `pin`: the mark of the only server that will do; 0: any.
        Turn(UpstreamGroups& groups, Config config, std::uint64_t spread, bool may_try,
             std::uint32_t pin, Time now);
        ~Turn() { leave(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        /// Null: the pinned server is not there, or is down while another one is up.
        const UpstreamServer* server() const;
        bool all_down() const { return order_.all_down; }
        /// The present server is down, and this request finds out whether it is back.
        bool is_trial() const { return order_.trial && at_ == 0; }
        /// Another server follows.
        bool has_next() const { return at_ + 1 < order_.servers.size(); }
        /// Goes to the next server. Precondition: has_next().
        void next(Time now);
        /// Notes a result of the present server, and logs a change.
        void ended(UpstreamGroup::End end, Time now);

    private:
        void enter(Time now);
        void leave();

        std::shared_ptr<SharedGroup> shared_;
        Config config_;
        UpstreamGroup::Order order_;
        std::size_t at_ = 0;
        Time entered_;  // the present server
        bool in_flight_ = false;
    };

    /// Notes the result of an active check, and logs a change.
    void checked(const Config& config, std::uint32_t mark, bool good, std::string_view why,
                 Time now);

    struct ServerCheckResult {
        std::string place;
        ServerState state = ServerState::up;
        unsigned weight = 1;
        bool backup = false;
        UpstreamGroup::Server counts;
    };
    /// The servers of a group, in the order of the configuration.
    std::vector<ServerCheckResult> report(const Config& config, Time now);
    /// The servers that a request for the URL with this hash would go to now, best first; without
    /// taking a turn. As ServerCheckResult::place.
    std::vector<std::string> candidates(const Config& config, std::uint64_t spread, Time now);

private:
    /// The state of `config`, which follows it.
    std::shared_ptr<SharedGroup> find(const Config& config);

    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<SharedGroup>, std::less<>> by_name_;
    std::size_t sweep_at_ = 64;
};

}  // namespace proxy
