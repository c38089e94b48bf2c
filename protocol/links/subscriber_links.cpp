#include "protocol/links/subscriber_links.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

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

SubscriberLinks::SubscriberLinks(LinkContext& context, Subscriptions::PeerHooks hooks)
    : context_(context),
      peers_(context, {std::move(hooks),
                       [&context](std::size_t peer, std::uint64_t objects,
                                  const summary::Description& summary) {
                           context.log.in_sync(context.neighbours.node(peer), objects, summary.bits,
                                               summary.hashes);
                       },
                       [&context](const Invalidation& what, std::function<void()> done) {
                           if (!context.hooks.on_invalidation) return done();
                           context.hooks.on_invalidation(what, std::move(done));
                       }}),
      listener_(context.executor) {}

void SubscriberLinks::bind() {
    const auto& config = context_.config;
    const auto endpoint = listen_endpoint(config, context_.executor);
    if (const auto error = listener_.listen(endpoint)) cannot_listen(config, error);
}

void SubscriberLinks::bind_in_place_of(SubscriberLinks& earlier) {
    listener_.assign(earlier.listener_.release());
}

std::uint16_t SubscriberLinks::port() const {
    return listener_.port();
}

void SubscriberLinks::close() {
    peers_.close();
    listener_.close();
}

awaitable<void> SubscriberLinks::listen(TaskGroup& tasks, std::shared_ptr<void> owner) {
    Listener::Hooks hooks;
    hooks.take = [this, &tasks, owner = std::move(owner)](tcp::socket socket) {
        auto task = serve(owner, std::move(socket));
        tasks.spawn(std::move(task));
    };
    hooks.trouble = [this](const error_code& error, std::size_t) {
        context_.log.ended("listening for peers", error, "", Clock::now());
    };
    auto listening = listener_.run(std::move(hooks));
    co_await std::move(listening);
}

awaitable<void> SubscriberLinks::serve([[maybe_unused]] std::shared_ptr<void> owner,
                                       tcp::socket socket) {
    std::optional<SubscriberEnd> end;  // outlives the link, which speaks for it
    auto link = Link::accepted(std::move(socket), context_.psk ? &context_.psk->server() : nullptr);
    end.emplace(peers_, link.remote_address(), fresh_nonce(), Clock::now());
    std::function<void()> settle = [this] { context_.settle(); };
    const auto error =
        co_await link.run(*end, context_.config.timings.gone_after, std::move(settle));
    end->over_because(error, Clock::now());
    context_.settle();
    if (error != asio::error::operation_aborted) note_end(*end, link.remote(), error);
}

void SubscriberLinks::note_end(const SubscriberEnd& end, const std::string& remote,
                               const error_code& error) {
    if (end.peer())
        return context_.log.ended("link from " + end.who(), error, remote, Clock::now());
    auto description = end.who().empty() ? "" : "says that it is " + printable(end.who());
    if (error == Error::wrong_node) description += " and looks for " + printable(end.looks_for());
    const auto host = remote.substr(0, remote.rfind(':'));
    if (error == Error::connection_closed && end.awaits_proof())
        return context_.log.left_unproven("link from " + host, printable(end.who()), error,
                                          Clock::now());
    if (error == Error::own_id && context_.membership.is_open()) return context_.log.met_self(host);
    // The node that replaces this one may be there already.
    const bool usual = error == Error::duplicate_id && context_.leaving;
    context_.log.failed("link from " + host, error, description, Clock::now(),
                        usual ? LinkLog::Expectation::usual : LinkLog::Expectation::none);
}

}  // namespace protocol
