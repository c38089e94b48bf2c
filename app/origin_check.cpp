#include "app/origin_check.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/exit_codes.hpp"
#include "app/fail.hpp"
#include "base/async/timer_wheel.hpp"
#include "base/memory/memory.hpp"
#include "measure/report/numbers.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/telemetry/leaving_redirects.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_permit.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/rewrite_response.hpp"
#include "proxy/upstream/upstream.hpp"

namespace app {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using proxy::FetchError;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatienceWithOrigins{5};  // for a connection, and for an answer
constexpr unsigned kServerErrors = 500;

/// The lines are for the terminal, so the failures do not go to the log as well.
class SilentLog {
public:
    SilentLog() : before_(spdlog::get_level()) { spdlog::set_level(spdlog::level::off); }
    ~SilentLog() { spdlog::set_level(before_); }
    SilentLog(const SilentLog&) = delete;
    SilentLog& operator=(const SilentLog&) = delete;

private:
    const spdlog::level::level_enum before_;
};

struct OriginReply {
    FetchError error = FetchError::abandoned;
    std::string fault;  // the error in a sentence
    unsigned status = 0;
    std::string redirected_to;    // the host; empty: it is no redirect
    bool leaves_mirrors = false;  // clients go to that host past the cache
    std::chrono::duration<double> took{};

    bool is_good() const { return error == FetchError::none && status < kServerErrors; }
};

/// Applies the rule's edits. The fields view its texts.
void edit_fields(const proxy::FieldEdits& edits, std::vector<proxy::Field>& fields) {
    std::erase_if(fields, [&](const proxy::Field& line) { return edits.takes_away(line.name); });
    edits.each_new([&](const std::string& name, const std::string& value) {
        fields.push_back({boost::beast::http::string_to_field(name), name, value});
    });
}

/// A HEAD of the whole mirror, under its own rule.
std::shared_ptr<const proxy::RequestSnapshot> head_of(
    const std::shared_ptr<const proxy::LoadedConfig>& config, const proxy::Mirror& mirror) {
    proxy::CacheKey key;
    key.assign_url(mirror.here_text);
    auto site = proxy::choose_site(*config, key, true);
    proxy::choose_rule(*config, "GET", key, site.policy);
    proxy::Head head;
    head.verb = boost::beast::http::verb::head;
    head.method = "HEAD";
    head.fields = {{field::accept, "Accept", "*/*"}, {field::user_agent, "User-Agent", "hearsay"}};
    if (site.policy.rule) edit_fields(site.policy.rule->request_fields, head.fields);
    return std::make_shared<proxy::RequestSnapshot>(head, key, false,
                                                    proxy::keep_site(config, site, key));
}

std::string fault_of(const proxy::Upstream& upstream, const proxy::UpstreamTarget& origin,
                     FetchError error, proxy::ParseError malformed) {
    const auto why = upstream.pool.tls_trouble(origin.host);
    if (error == FetchError::tls_failed && !why.empty())
        return proxy::explain_tls(origin.host, why);
    return proxy::explain(error, origin.text(), malformed);
}

asio::awaitable<OriginReply> ask_origin(proxy::Upstream& upstream,
                                        std::shared_ptr<const proxy::RequestSnapshot> asks) {
    OriginReply reply;
    const auto begun = Clock::now();
    proxy::OriginPermit permit(upstream, *asks->origin());
    proxy::Exchange exchange(upstream.pool, upstream.head_limits());
    reply.error = co_await proxy::send_origin_request(*asks, {}, exchange, permit);
    reply.took = Clock::now() - begun;
    if (reply.error != FetchError::none) {
        reply.fault = fault_of(upstream, permit.target(), reply.error, exchange.malformed());
        co_return reply;
    }
    reply.status = exchange.head().status;
    const auto url = asks->url_at_origin();
    const auto* const location = proxy::find(exchange.head().fields, field::location);
    proxy::CacheKey target;
    if (proxy::is_redirect(reply.status) && location &&
        proxy::resolve_reference(url, location->value, target))
        reply.redirected_to = proxy::shown_host(target.authority());
    const proxy::RewriteOf of{url, true, {}};
    proxy::rewrite_response(upstream, *asks, of, exchange);
    reply.leaves_mirrors =
        proxy::leaves_mirrors_for(asks->config(), asks->key, exchange.head()).has_value();
    co_return reply;
}

/// Asks on a worker of its own. Blocks.
OriginReply ask_mirror(const std::shared_ptr<const proxy::LoadedConfig>& config,
                       const proxy::Mirror& mirror) {
    asio::io_context io(1);
    base::TimerWheel wheel(io.get_executor());
    const proxy::ConfigInEffect in_effect(config);
    base::MemoryBudget windows(config->limits.body_windows);
    proxy::SharedUpstream shared;
    proxy::WorkerCounters counters;
    proxy::Upstream upstream(io.get_executor(), wheel, in_effect, windows, shared, counters);
    OriginReply reply;
    asio::co_spawn(io, ask_origin(upstream, head_of(config, mirror)),
                   [&](const std::exception_ptr& thrown, OriginReply got) {
                       if (!thrown) reply = std::move(got);
                       wheel.stop();
                       upstream.pool.close_idle();
                       io.stop();
                   });
    io.run();
    return reply;
}

std::string_view remedy(FetchError error) {
    switch (error) {
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
            return " Look at the host in its url, and at the DNS of this machine.";
        case FetchError::connect_failed:
        case FetchError::connect_timeout:
            return " Look at host and port in its url, at the firewall, and whether it runs.";
        case FetchError::tls_failed:
            return " Look at its certificate, and at tls.ca and tls.name of the entry.";
        case FetchError::head_timeout:
            return " Look at the load and the log of that server.";
        case FetchError::reset:
        case FetchError::malformed:
            return " Look at host and port in its url, and whether it speaks http or https there.";
        default:
            return {};
    }
}

std::string reply_text(const OriginReply& reply) {
    const auto milliseconds = 1000 * reply.took.count();
    if (reply.error != FetchError::none)
        return fmt::format("FAILED after {:.0f} ms: {}{}", milliseconds, reply.fault,
                           remedy(reply.error));
    auto text = fmt::format("status {} in {:.0f} ms", reply.status, milliseconds);
    if (reply.status >= kServerErrors)
        return text + ": it answers with an error of its own. Look at its log.";
    if (reply.redirected_to.empty()) return text;
    text += fmt::format(", a redirect to {}, which ", reply.redirected_to);
    if (!reply.leaves_mirrors) return text + "an entry of origins covers";
    return text + fmt::format(
                      "no mirror covers: clients that follow it go past the cache. Add {} to "
                      "origins with a name of its own (public), or let the rule follow "
                      "redirects",
                      reply.redirected_to);
}

/// With deadlines that a person would wait for.
std::shared_ptr<const proxy::LoadedConfig> impatient(proxy::LoadedConfig config) {
    for (auto* time : {&config.timeouts.origin_connect, &config.timeouts.origin_head})
        *time = std::min<std::chrono::nanoseconds>(*time, kPatienceWithOrigins);
    return std::make_shared<const proxy::LoadedConfig>(std::move(config));
}

}  // namespace

int check_origins(const proxy::LoadedConfig& loaded) {
    if (!loaded.mirrors)
        return fail(kFailed, "there are no origins to ask: no entry of origins has `public`");
    const SilentLog quiet;
    const auto config = impatient(loaded);
    auto mirrors = config->mirrors->all();
    std::ranges::sort(mirrors, {}, &proxy::Mirror::entry);
    std::size_t good = 0;
    for (const auto& mirror : mirrors) {
        const auto reply = ask_mirror(config, mirror);
        fmt::print("{} ({}): {}\n", mirror.here_text, config->origins[mirror.entry].name(),
                   reply_text(reply));
        std::fflush(stdout);
        good += reply.is_good();
    }
    fmt::print("{} of {} {}\n", good, measure::amount(mirrors.size(), "mirrored origin"),
               mirrors.size() == 1 ? "answers" : "answer");
    return good == mirrors.size() ? kOk : kFailed;
}

}  // namespace app
