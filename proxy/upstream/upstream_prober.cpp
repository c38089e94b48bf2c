#include "proxy/upstream/upstream_prober.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/async/deadline.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Group = std::shared_ptr<const UpstreamGroupConfig>;

/// One check of one server. Immutable.
struct ServerCheck {
    Group group;
    UpstreamTarget target;
    std::string text;  // the request
};

std::string check_text(const OriginConfig& origin, const UpstreamServer& server,
                       const std::string& node) {
    const auto host = origin.host.starts_with('*') ? server.place.text() : origin.host;
    std::string out("GET ");
    out.append(origin.group->health.path).append(" HTTP/1.1\r\nHost: ").append(host);
    return out.append("\r\nAccept: */*\r\nVia: 1.1 ").append(node).append("\r\n\r\n");
}

std::shared_ptr<const ServerCheck> check_of(const LoadedConfig& config, const OriginConfig& origin,
                                            const UpstreamServer& server) {
    auto check = std::make_shared<ServerCheck>();
    check->group = origin.group;
    static_cast<HostPort&>(check->target) = server.place;
    check->target.mark = server.mark;
    if (origin.tls) check->target.tls = config.trust->of(config, &origin);
    check->text = check_text(origin, server, config.node);
    return check;
}

asio::awaitable<void> check_server(Upstream& upstream, std::shared_ptr<const ServerCheck> check) {
    const auto& health = check->group->health;
    Exchange exchange(upstream.pool, upstream.head_limits());
    const auto latest = Clock::now() + health.timeout;
    const Exchange::Request out{check->text, false, true};
    const Exchange::Patience patience{latest, health.timeout, latest};
    const auto error = co_await exchange.run(check->target, out, patience);
    const auto& meaning = consequences_of(error);
    // A limit of this node says nothing about the server.
    if (error != FetchError::none && meaning.by != FailureSide::origin) co_return;
    auto good = false;
    std::string why(to_string(error));
    if (error == FetchError::none) {
        const auto status = exchange.head().status;
        good = health.expects(status);
        why = "its check was answered with " + std::to_string(status);
    }
    upstream.shared.groups.checked(check->group, check->target.mark, good, why, Clock::now());
    if (error == FetchError::none) co_await exchange.discard(latest);
}

using Name = std::pair<std::string, std::uint32_t>;  // group and server
using CheckTimes = std::map<Name, Clock::time_point>;

/// Starts the checks of these servers that are due, and notes in `next` when each has its next one.
void start_checks(Upstream& upstream, const LoadedConfig& config, const OriginConfig& origin,
                  const CheckTimes& due, CheckTimes& next) {
    const auto now = Clock::now();
    for (const auto& server : origin.group->servers) {
        const Name name{origin.group->name, server.mark};
        const auto known = due.find(name);
        auto at = known == due.end() ? now : known->second;
        if (at <= now) {
            auto check = check_of(config, origin, server);
            auto task = check_server(upstream, std::move(check));
            upstream.probes.spawn(std::move(task));
            at = now + origin.group->health.every;
        }
        next[name] = at;
    }
}

}  // namespace

asio::awaitable<void> probe_upstreams(Upstream& upstream, asio::steady_timer& next) {
    CheckTimes due;
    for (;;) {
        CheckTimes planned;
        {
            const auto config = upstream.settings.share();
            for (const auto& origin : config->origins)
                if (origin.group && !origin.group->health.path.empty())
                    start_checks(upstream, *config, origin, due, planned);
        }
        auto soonest = Clock::time_point::max();
        for (const auto& [name, at] : planned) soonest = std::min(soonest, at);
        due = std::move(planned);
        next.expires_at(soonest);
        co_await next.async_wait(base::as_result);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return;
    }
}

}  // namespace proxy
