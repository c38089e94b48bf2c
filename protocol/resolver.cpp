#include "protocol/resolver.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "protocol/deadline.hpp"

namespace protocol {
namespace {

using boost::asio::ip::tcp;
using Addresses = Resolver::Addresses;

constexpr auto kBadNewsKept = std::chrono::seconds(1);

std::optional<std::uint16_t> parse_port(const std::string& text) {
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error != std::errc() || stop != end) return std::nullopt;
    return port;
}

Resolver::Endpoints with_port(const Addresses& addresses, std::uint16_t port) {
    Resolver::Endpoints endpoints;
    for (const auto& address : addresses) endpoints.emplace_back(address, port);
    return endpoints;
}

/// One name being looked up, or its answer.
struct Lookup {
    explicit Lookup(const boost::asio::any_io_executor& executor)
        : done(executor, Clock::time_point::max()) {}

    boost::asio::steady_timer done;  // cancelled when the answer is there
    std::optional<Result<Addresses>> answer;
    Clock::time_point good_until;
};

/// Woken by the answer, or cancelled.
awaitable<Result<void>> wait_for(std::shared_ptr<Lookup> lookup) {
    if (!lookup->answer) co_await lookup->done.async_wait(as_result);
    if (!lookup->answer)
        co_return boost::asio::error::make_error_code(boost::asio::error::operation_aborted);
    co_return Result<void>();
}

/// Where lookups leave their answers as long as there is a resolver. Any thread.
class Returns {
public:
    explicit Returns(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    template <class Deliver>
    void post(Deliver deliver) {
        const std::scoped_lock lock(mutex_);
        if (executor_) boost::asio::post(executor_, std::move(deliver));
    }
    void close() {
        const std::scoped_lock lock(mutex_);
        executor_ = {};
    }

private:
    std::mutex mutex_;
    boost::asio::any_io_executor executor_;  // empty: nobody waits any more
};

}  // namespace

struct Resolver::State : std::enable_shared_from_this<Resolver::State> {
    State(boost::asio::any_io_executor on, Clock::duration keep_answers, LookUp how)
        : executor(std::move(on)),
          keep(keep_answers),
          look_up(std::move(how)),
          returns(std::make_shared<Returns>(executor)) {}

    boost::asio::any_io_executor executor;
    Clock::duration keep;
    LookUp look_up;
    std::unordered_map<std::string, std::shared_ptr<Lookup>> names;
    std::size_t in_flight = 0;
    std::shared_ptr<Returns> returns;
    std::unique_ptr<boost::asio::thread_pool> threads;  // none until a name needs it

    std::shared_ptr<Lookup> find_or_start(const std::string& host) {
        const auto now = Clock::now();
        const auto known = names.find(host);
        if (known != names.end()) {
            const auto& lookup = known->second;
            if (!lookup->answer || now < lookup->good_until) return lookup;
            names.erase(known);
        }
        if (in_flight >= kMaxNamesInFlight) return nullptr;
        if (names.size() >= kMaxNamesKept) forget_answers(now);
        auto lookup = std::make_shared<Lookup>(executor);
        names.emplace(host, lookup);
        start(host, lookup);
        return lookup;
    }

    void start(const std::string& host, const std::shared_ptr<Lookup>& lookup) {
        ++in_flight;
        if (!threads) threads = std::make_unique<boost::asio::thread_pool>(kResolverThreads);
        // Owns nothing that belongs to the io_context: it may outlive it.
        auto work = [host, ask = look_up, to = returns, self = weak_from_this(),
                     asked = std::weak_ptr(lookup)] {
            auto deliver = [self, asked, answer = ask(host)]() mutable {
                const auto state = self.lock();
                const auto waiting = asked.lock();
                if (state && waiting) state->finish(*waiting, std::move(answer));
            };
            to->post(std::move(deliver));
        };
        boost::asio::post(*threads, std::move(work));
    }

    void finish(Lookup& lookup, Result<Addresses> answer) {
        --in_flight;
        const auto kept = answer ? keep : std::min<Clock::duration>(keep, kBadNewsKept);
        lookup.good_until = Clock::now() + kept;
        lookup.answer = std::move(answer);
        lookup.done.cancel();
    }

    /// Makes room: what has expired, and if that is nothing, every answer.
    void forget_answers(Clock::time_point now) {
        std::erase_if(names, [&](const auto& entry) {
            return entry.second->answer && entry.second->good_until <= now;
        });
        if (names.size() < kMaxNamesKept) return;
        std::erase_if(names, [](const auto& entry) { return entry.second->answer.has_value(); });
    }
};
static_assert(kMaxNamesInFlight < kMaxNamesKept);

Result<Addresses> Resolver::ask_system(const std::string& host) {
    boost::asio::io_context unused;
    tcp::resolver resolver(unused);
    boost::system::error_code error;
    const auto found = resolver.resolve(host, "0", tcp::resolver::numeric_service, error);
    Addresses addresses;
    for (const auto& entry : found) {
        const auto address = entry.endpoint().address();
        const bool known =
            std::find(addresses.begin(), addresses.end(), address) != addresses.end();
        if (!known && addresses.size() < kMaxAddressesPerName) addresses.push_back(address);
    }
    if (error || addresses.empty()) return make_error_code(Error::resolve_failed);
    return addresses;
}

Resolver::Resolver(boost::asio::any_io_executor executor, std::chrono::steady_clock::duration keep,
                   LookUp look_up)
    : state_(std::make_shared<State>(std::move(executor), keep, std::move(look_up))) {}

Resolver::~Resolver() {
    // Not left to the last owner of the state, which may be a coroutine that outlives the executor.
    state_->returns->close();
    if (!state_->threads) return;
    state_->threads->stop();
    // A name server may keep a lookup for long; joining is left to a thread that nobody waits for.
    std::thread([threads = std::move(state_->threads)] { threads->join(); }).detach();
}

awaitable<Result<Resolver::Endpoints>> Resolver::resolve(std::string host, std::string port,
                                                         Clock::time_point deadline) {
    const auto state = state_;
    const auto number = parse_port(port);
    // An empty name would be this host to getaddrinfo.
    const bool sensible = number && !host.empty();
    if (!sensible) co_return make_error_code(Error::resolve_failed);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    boost::system::error_code not_literal;
    const auto literal = boost::asio::ip::make_address(host, not_literal);
    if (!not_literal) co_return Endpoints{{literal, *number}};

    const auto lookup = state->find_or_start(host);
    if (!lookup) co_return make_error_code(Error::resolver_busy);
    if (!lookup->answer) {
        auto answered = wait_for(lookup);
        const auto waited = co_await within(deadline, std::move(answered), Error::resolve_timeout);
        if (!waited) co_return waited.error();
    }
    if (!*lookup->answer) co_return lookup->answer->error();
    co_return with_port(**lookup->answer, *number);
}

}  // namespace protocol
