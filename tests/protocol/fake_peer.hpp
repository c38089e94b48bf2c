#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/error.hpp"
#include "protocol/links/hello.hpp"
#include "protocol/links/link.hpp"
#include "protocol/links/peering_services.hpp"
#include "tests/base/coroutine.hpp"
#include "tests/protocol/bytes.hpp"

namespace protocol::test {

using base::test::Pending;
using base::test::start;

/// Knows the cluster key and how to say hello; all further messages are up to the test.
class FakePeer : public LinkEnd {
public:
    FakePeer(boost::asio::io_context& io, std::string node, const std::string& key)
        : io_(io), self_{std::move(node), {}}, keys_({key}), psk_(tls_keys({key})) {
        base::random_bytes(self_.instance);
        rules_.is_peer = [](std::string_view) { return true; };
        rules_.max_summary_bytes = 1 << 30;
    }

    /// Waits for one publisher.
    void listen(const std::string& address) {
        acceptor_ = std::make_unique<boost::asio::ip::tcp::acceptor>(
            io_, boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(address), 3129));
        subscriber_.emplace(self_, keys_, rules_, fresh_nonce());
        start(io_, take_one(), end_);
    }
    /// Publishes to the node at this address.
    void dial(const std::string& node, const std::string& address) {
        publisher_.emplace(self_, keys_, node, fresh_nonce(), bloom({128, 4}));
        to_say_.push_back(HelloMessage(publisher_->hello()));
        start(io_, connect(address), end_);
    }

    /// A payload it views must stay.
    void say(const Message& message) {
        to_say_.push_back(message);
        wake();
    }
    template <typename T>
    std::size_t heard() const {
        std::size_t count = 0;
        for (const auto& message : heard_) count += std::holds_alternative<T>(message) ? 1 : 0;
        return count;
    }
    /// The number of deltas and snapshots that it received.
    std::size_t announcement_bytes() const { return announcement_bytes_; }
    bool up() const { return greeted(); }
    /// Why its link ended, once it has.
    const std::optional<boost::system::error_code>& end() const { return end_.value; }

    void on_hello(const base::Result<HelloMessage>& message, TimePoint) override {
        if (!message) return LinkEnd::end(message.error());
        if (publisher_) {
            const auto answer = publisher_->on_message(*message);
            if (!answer) return LinkEnd::end(answer.error());
            secure(answer->secrets.from_publisher, answer->secrets.from_subscriber);
            to_say_.push_front(HelloMessage(answer->proof));
        } else if (std::holds_alternative<Hello>(*message)) {
            const auto challenge = subscriber_->on_hello(*message);
            if (!challenge) return LinkEnd::end(challenge.error());
            to_say_.push_front(HelloMessage(*challenge));
        } else {
            const auto secrets = subscriber_->on_proof(*message);
            if (!secrets) return LinkEnd::end(secrets.error());
            secure(secrets->from_subscriber, secrets->from_publisher);
            to_say_.push_front(Message(Heartbeat{}));  // it holds nothing of the summary
            to_say_.push_front(Message(Welcome{}));
            welcomed();
        }
    }
    void on_message(const Message& message, TimePoint) override {
        if (std::holds_alternative<Welcome>(message)) return welcomed();
        heard_.push_back(message);  // what it views is gone soon: only for counting
        if (const auto* delta = std::get_if<Delta>(&message))
            announcement_bytes_ += delta->payload.size();
        if (const auto* part = std::get_if<SnapshotPart>(&message))
            announcement_bytes_ += part->payload.size();
    }
    std::optional<Said> next(TimePoint) override {
        if (!may_speak()) return std::nullopt;
        auto message = std::move(to_say_.front());
        to_say_.pop_front();
        return message;
    }
    TimePoint due() const override { return may_speak() ? TimePoint::min() : TimePoint::max(); }
    Limit limit() const override { return {TimePoint::max(), Error::peer_silent}; }
    LinkCounters& traffic() override { return traffic_; }

private:
    /// All but the hello waits until that is over.
    bool may_speak() const {
        return !to_say_.empty() &&
               (greeted() || std::holds_alternative<HelloMessage>(to_say_.front()));
    }

    using Ended = boost::system::error_code;

    base::awaitable<Ended> take_one() {
        auto [error, socket] = co_await acceptor_->async_accept(base::as_result);
        if (error) co_return error;
        link_.reset(new Link(Link::accepted(std::move(socket), &psk_.server())));
        std::function<void()> nothing = [] {};
        co_return co_await link_->run(*this, std::chrono::seconds(10), std::move(nothing));
    }

    base::awaitable<Ended> connect(std::string address) {
        boost::asio::ip::tcp::socket socket(io_);
        const boost::asio::ip::tcp::endpoint endpoint(boost::asio::ip::make_address(address), 3129);
        const auto [error] = co_await socket.async_connect(endpoint, base::as_result);
        if (error) co_return error;
        link_.reset(new Link(Link::dialled(std::move(socket), &psk_.client())));
        std::function<void()> nothing = [] {};
        co_return co_await link_->run(*this, std::chrono::seconds(10), std::move(nothing));
    }

    boost::asio::io_context& io_;
    Identity self_;
    KeyRing keys_;
    base::PskContext psk_;
    SubscriberHello::Rules rules_;
    LinkCounters traffic_;
    std::optional<PublisherHello> publisher_;
    std::optional<SubscriberHello> subscriber_;
    std::unique_ptr<boost::asio::ip::tcp::acceptor> acceptor_;
    std::unique_ptr<Link> link_;
    std::deque<Said> to_say_;
    std::vector<Message> heard_;
    std::size_t announcement_bytes_ = 0;
    Pending<Ended> end_;
};

}  // namespace protocol::test
