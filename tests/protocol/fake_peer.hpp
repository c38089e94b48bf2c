#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/hello.hpp"
#include "protocol/link.hpp"
#include "protocol/shared.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/protocol/coroutine.hpp"

namespace protocol::test {

/// Knows the cluster key and how to say hello; what it says after that is up to the test.
class FakePeer : public LinkEnd {
public:
    FakePeer(boost::asio::io_context& io, std::string node, const std::string& key)
        : io_(io), self_{std::move(node), {}}, keys_({key}) {
        random_bytes(self_.instance);
        rules_.is_peer = [](std::string_view) { return true; };
        rules_.max_summary_bytes = 1 << 30;
    }

    /// Waits for one publisher.
    void listen(const std::string& address) {
        acceptor_ = std::make_unique<boost::asio::ip::tcp::acceptor>(
            io_, boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(address), 3129));
        start(io_, subscribe(), end_);
    }
    /// Publishes to the node at this address.
    void dial(const std::string& node, const std::string& address) {
        start(io_, publish(node, address), end_);
    }

    /// A payload it views must stay.
    void say(const Message& message) {
        to_say_.push_back(message);
        if (link_) link_->wake();
    }
    template <typename T>
    std::size_t heard() const {
        std::size_t count = 0;
        for (const auto& message : heard_) count += std::holds_alternative<T>(message) ? 1 : 0;
        return count;
    }
    /// Of deltas and snapshots that it was told.
    std::size_t announcement_bytes() const { return announcement_bytes_; }
    bool up() const { return up_; }
    /// Why its link ended, once it has.
    const std::optional<boost::system::error_code>& end() const { return end_.value; }

    Result<void> on_message(const Message& message, Clock::time_point) override {
        heard_.push_back(message);  // what it views is gone soon: only for counting
        if (const auto* delta = std::get_if<Delta>(&message))
            announcement_bytes_ += delta->payload.size();
        if (const auto* part = std::get_if<SnapshotPart>(&message))
            announcement_bytes_ += part->payload.size();
        return {};
    }
    std::optional<Message> next(Clock::time_point) override {
        if (to_say_.empty()) return std::nullopt;
        const auto message = to_say_.front();
        to_say_.pop_front();
        return message;
    }
    Clock::time_point due() const override { return Clock::time_point::max(); }
    bool finished() const override { return false; }

private:
    using Ended = boost::system::error_code;

    static Clock::time_point soon() { return Clock::now() + std::chrono::seconds(5); }

    awaitable<Ended> subscribe() {
        auto [error, socket] = co_await acceptor_->async_accept(as_result);
        if (error) co_return error;
        link_ = std::make_unique<Link>(std::move(socket), traffic_);
        SubscriberHello hello(self_, keys_, rules_, fresh_nonce());
        const auto first = co_await link_->read_hello(soon());
        if (!first) co_return first.error();
        const auto challenge = hello.on_hello(*first);
        if (!challenge) co_return challenge.error();
        HelloMessage second = *challenge;
        co_await link_->write_hello(std::move(second), soon());
        const auto third = co_await link_->read_hello(soon());
        if (!third) co_return third.error();
        const auto secrets = hello.on_proof(*third);
        if (!secrets) co_return secrets.error();
        link_->secure(secrets->from_subscriber, secrets->from_publisher);
        link_->write_welcome();
        up_ = true;
        co_return co_await link_->run(*this, std::chrono::seconds(10));
    }

    awaitable<Ended> publish(std::string node, std::string address) {
        boost::asio::ip::tcp::socket socket(io_);
        const boost::asio::ip::tcp::endpoint endpoint(boost::asio::ip::make_address(address), 3129);
        const auto [error] = co_await socket.async_connect(endpoint, as_result);
        if (error) co_return error;
        link_ = std::make_unique<Link>(std::move(socket), traffic_);
        const PublisherHello hello(self_, keys_, node, fresh_nonce(), bloom({128, 4}));
        HelloMessage first = hello.hello();
        co_await link_->write_hello(std::move(first), soon());
        const auto challenge = co_await link_->read_hello(soon());
        if (!challenge) co_return challenge.error();
        const auto answer = hello.on_message(*challenge);
        if (!answer) co_return answer.error();
        link_->secure(answer->secrets.from_publisher, answer->secrets.from_subscriber);
        HelloMessage proof = answer->proof;
        co_await link_->write_hello(std::move(proof), soon());
        const auto welcome = co_await link_->read_welcome(soon());
        if (!welcome) co_return welcome.error();
        up_ = true;
        co_return co_await link_->run(*this, std::chrono::seconds(10));
    }

    boost::asio::io_context& io_;
    Identity self_;
    KeyRing keys_;
    SubscriberHello::Rules rules_;
    Traffic traffic_;
    std::unique_ptr<boost::asio::ip::tcp::acceptor> acceptor_;
    std::unique_ptr<Link> link_;
    std::deque<Message> to_say_;
    std::vector<Message> heard_;
    std::size_t announcement_bytes_ = 0;
    bool up_ = false;
    Pending<boost::system::error_code> end_;
};

}  // namespace protocol::test
