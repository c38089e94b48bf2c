#include "base/net/resolver.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/async/deadline.hpp"
#include "base/async/sleep.hpp"

namespace base {
namespace {

Resolver::Endpoints with_port(const Addresses& addresses, std::uint16_t port) {
    Resolver::Endpoints endpoints;
    for (const auto& address : addresses) endpoints.emplace_back(address, port);
    return endpoints;
}

/// The version of the hosts file that c-ares reads (ask_dns()): all zeros if there is none.
using HostsVersion = std::array<std::int64_t, 4>;

HostsVersion hosts_version() {
    const auto* const named = std::getenv("CARES_HOSTS");
    struct stat file {};
    if (::stat(named != nullptr ? named : "/etc/hosts", &file) != 0) return {};
    return {static_cast<std::int64_t>(file.st_ino), file.st_size, file.st_mtim.tv_sec,
            file.st_mtim.tv_nsec};
}

/// One name being looked up.
struct Lookup {
    explicit Lookup(const boost::asio::any_io_executor& executor)
        : done(executor, Clock::time_point::max()) {}

    boost::asio::steady_timer done;  // cancelled when the answer is there
    std::optional<Result<Addresses>> answer;
    std::unique_ptr<NameQuestion> question;
};

/// Woken by the answer, or cancelled.
awaitable<Result<void>> wait_for(std::shared_ptr<Lookup> lookup) {
    if (!lookup->answer) co_await lookup->done.async_wait(as_result);
    if (!lookup->answer)
        co_return boost::asio::error::make_error_code(boost::asio::error::operation_aborted);
    co_return Result<void>();
}

}  // namespace

struct Resolver::State : std::enable_shared_from_this<Resolver::State> {
    State(boost::asio::any_io_executor on, Options how)
        : executor(std::move(on)), options(std::move(how)), table(options.most_kept) {
        if (!options.now) options.now = [] { return Clock::now() + slept(); };
        if (!options.ask)
            options.ask = [this](const std::string& name, std::function<void(NameAnswer)> done) {
                return ask_dns(executor, options.dns, name, std::move(done));
            };
        hosts_seen_at = options.now();
    }

    boost::asio::any_io_executor executor;
    Options options;
    NameTable table;
    std::unordered_map<std::string, std::shared_ptr<Lookup>> under_way;

    HostsVersion hosts = hosts_version();
    Time hosts_seen_at{};

    NameTable::Decision ask(const std::string& name, const std::string& client) {
        const auto now = options.now();
        if (now - hosts_seen_at >= kHostsFileLook) {
            hosts_seen_at = now;
            const auto before = std::exchange(hosts, hosts_version());
            if (hosts != before) table.expire(now);
        }
        return table.ask(name, client, now);
    }

    void start(const std::string& name) {
        const auto lookup = std::make_shared<Lookup>(executor);
        under_way.emplace(name, lookup);
        lookup->question = options.ask(name, [self = weak_from_this(), name](NameAnswer answer) {
            if (const auto state = self.lock()) state->finish(name, std::move(answer));
        });
    }

    void finish(const std::string& name, NameAnswer answer) {
        const auto found = under_way.find(name);
        if (found == under_way.end()) return;
        const auto lookup = std::move(found->second);
        under_way.erase(found);
        lookup->answer = table.answered(name, std::move(answer), options.now());
        lookup->question.reset();
        lookup->done.cancel();
    }
};

Resolver::Resolver(boost::asio::any_io_executor executor)
    : Resolver(std::move(executor), Options()) {}

Resolver::Resolver(boost::asio::any_io_executor executor, Options options)
    : state_(std::make_shared<State>(std::move(executor), std::move(options))) {}

Resolver::~Resolver() {
    // The last owner of the state may be a coroutine that outlives the executor, so look-ups end
    // here.
    for (auto& [name, lookup] : state_->under_way) lookup->question.reset();
    state_->under_way.clear();
}

awaitable<Result<Resolver::Endpoints>> Resolver::resolve(HostPort place, Time deadline,
                                                         std::string client) {
    const auto state = state_;
    const auto& host = place.host;
    // Some resolvers take an empty name for this host.
    if (host.empty()) co_return make_error_code(Error::resolve_failed);
    boost::system::error_code not_literal;
    const auto literal = boost::asio::ip::make_address(host, not_literal);
    if (!not_literal) co_return Endpoints{{literal, place.port}};

    auto decision = state->ask(host, client);
    if (decision.look_up) state->start(host);
    if (decision.answer) {
        if (!*decision.answer) co_return decision.answer->error();
        co_return with_port(**decision.answer, place.port);
    }
    const auto lookup = state->under_way.at(host);
    const auto now = Clock::now();
    auto until = deadline;
    // A caller with little time leaves some of it for the connection.
    if (decision.stale && deadline > now)
        until = now + std::min<Clock::duration>(kStalePatience, (deadline - now) / 2);
    auto answered = wait_for(lookup);
    const auto waited = co_await within(until, std::move(answered), Error::resolve_timeout);
    if (!waited && waited.error() == Error::resolve_timeout && decision.stale)
        co_return with_port(*decision.stale, place.port);
    if (!waited) co_return waited.error();
    if (!*lookup->answer) co_return lookup->answer->error();
    co_return with_port(**lookup->answer, place.port);
}

bool Resolver::leads_to(const std::string& host, const boost::asio::ip::address& address,
                        const std::string& client) {
    boost::system::error_code not_literal;
    const auto literal = boost::asio::ip::make_address(host, not_literal);
    if (!not_literal) return literal == address;
    const auto decision = state_->ask(host, client);
    if (decision.look_up) state_->start(host);
    const auto among = [&](const Addresses& known) {
        return std::find(known.begin(), known.end(), address) != known.end();
    };
    if (decision.answer && *decision.answer) return among(**decision.answer);
    if (decision.answer) return decision.answer->error() == Error::resolver_busy;
    return !decision.stale || among(*decision.stale);
}

}  // namespace base
