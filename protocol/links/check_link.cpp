#include "protocol/links/check_link.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "protocol/links/hello.hpp"
#include "protocol/links/link.hpp"
#include "protocol/links/link_security.hpp"
#include "protocol/links/peering_services.hpp"
#include "summary/own/own_summary.hpp"

namespace protocol {
namespace {

constexpr int kMostAttempts = 3;  // two keys, and clear text

Identity stranger_like(const PeeringConfig& config) {
    Identity self{config.node, {}, config.rules};
    base::random_bytes(self.instance);
    return self;
}

/// The descriptor of an empty summary, whose size no node refuses.
summary::Descriptor any_descriptor(summary::Kind kind) {
    summary::OwnSummary::Config config;
    config.kind = kind;
    return summary::OwnSummary(config).descriptor();
}

/// Sends the hello, takes the challenge, and ends.
class CheckEnd final : public LinkEnd {
public:
    CheckEnd(const PeeringConfig& config, std::string peer, TimePoint until)
        : keys_(config.security.keys),
          hello_(stranger_like(config), keys_, std::move(peer), fresh_nonce(),
                 any_descriptor(config.summary.kind)),
          until_(until) {}

    /// The node at the place, or an error; set at the end of the link.
    const std::optional<base::Result<std::string>>& found() const { return found_; }

    void on_hello(const base::Result<HelloMessage>& message, TimePoint) override {
        if (!message) return over_with(message.error());
        const auto answer = hello_.on_message(*message);
        if (!answer) return over_with(answer.error());
        found_ = answer->node;
        close(make_error_code(Error::goodbye));
    }
    void on_message(const Message&, TimePoint) override {
        over_with(make_error_code(Error::unexpected_frame));
    }
    std::optional<Said> next(TimePoint) override {
        if (said_) return std::nullopt;
        said_ = true;
        return HelloMessage(hello_.hello());
    }
    TimePoint due() const override { return said_ ? TimePoint::max() : TimePoint::min(); }
    Limit limit() const override { return {until_, Error::hello_timeout}; }
    LinkCounters& traffic() override { return traffic_; }

private:
    void over_with(const boost::system::error_code& why) {
        found_ = why;
        close(why);
    }

    KeyRing keys_;
    PublisherHello hello_;
    TimePoint until_;
    bool said_ = false;
    std::optional<base::Result<std::string>> found_;
    LinkCounters traffic_;
};

}  // namespace

boost::asio::awaitable<base::Result<std::string>> check_link(const PeeringConfig& config,
                                                             base::HostPort place, std::string peer,
                                                             base::Resolver& resolver,
                                                             base::Dialer& dialer,
                                                             std::chrono::nanoseconds limit) {
    const auto until =
        base::Clock::now() + std::chrono::duration_cast<base::Clock::duration>(limit);
    const auto endpoints = co_await resolver.resolve(place, until);
    if (!endpoints) co_return endpoints.error();
    const auto psk = link_tls(config);
    DialSecurity security(config.security);
    for (int attempt = 1;; ++attempt) {
        auto where = place.text();
        auto socket = co_await dialer.connect(std::move(where), *endpoints, until);
        if (!socket) co_return socket.error();
        const auto key = security.key();
        CheckEnd end(config, peer, until);
        auto link = Link::dialled(std::move(*socket), key ? &psk->client(*key) : nullptr);
        std::function<void()> nothing = [] {};
        const auto error = co_await link.run(end, limit, std::move(nothing));
        const auto found = end.found() ? *end.found() : base::Result<std::string>(error);
        if (found) co_return found;
        // Another key, or clear text, may do where this did not.
        security.ended(found.error(), false, false);
        if (security.key() == key || attempt == kMostAttempts) co_return found;
    }
}

}  // namespace protocol
