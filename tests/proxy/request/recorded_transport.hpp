#pragma once

#include <algorithm>
#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/request/client_service.hpp"
#include "proxy/request/request.hpp"
#include "proxy/request/request_stats.hpp"
#include "proxy/request/request_steps.hpp"
#include "proxy/request/response_writer.hpp"
#include "proxy/request/transaction.hpp"
#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy::test {

/// A transport without a socket and without HTTP/1.1 text: it keeps status, fields and body of a
/// response as values. The client behind it takes `room` bytes of a body before it has to be waited
/// for, and then the rest, unless it has stopped reading.
class RecordedResponse final : public ResponseWriter {
public:
    using Lines = std::vector<std::pair<std::string, std::string>>;

    unsigned status = 0;
    Lines fields_seen;
    std::optional<std::uint64_t> length;
    bool has_body = true;
    std::string body;
    std::vector<unsigned> interims;
    std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
    bool reads_on = true;
    unsigned waits = 0;

    /// The values of a field, joined.
    std::string value(std::string_view name) const {
        std::string all;
        for (const auto& [named, text] : fields_seen)
            if (named == name) all.append(all.empty() ? "" : ", ").append(text);
        return all;
    }

    void begin(const ResponseHead& head) override {
        status = head.status;
        length = head.length;
        has_body = head.has_body;
        for (const auto& block : {head.stored, FieldBlock(fields_)})
            for (const auto& line : block)
                fields_seen.emplace_back(std::string(line.name), std::string(line.value));
    }
    std::vector<boost::asio::const_buffer>& next_piece() override {
        buffers_.clear();
        return buffers_;
    }
    Progress write_now(BodyPiece& piece) override {
        pending_.clear();
        for (const auto& buffer : buffers_)
            pending_.append(static_cast<const char*>(buffer.data()), buffer.size());
        buffers_.clear();
        EXPECT_EQ(pending_.size(), piece.bytes);
        ends_ = piece.end;
        take(std::min<std::uint64_t>(room, pending_.size()));
        return pending_.empty() ? Progress::all : Progress::blocked;
    }
    boost::asio::awaitable<bool> write_rest(const Fill::Reader*) override {
        ++waits;
        if (!reads_on) co_return false;
        take(pending_.size());
        co_return true;
    }
    boost::asio::awaitable<void> interim(unsigned of, FieldBlock) override {
        interims.push_back(of);
        co_return;
    }
    bool takes_files() const override { return false; }
    bool complete() const override {
        if (status == 0 || !pending_.empty()) return false;
        if (!has_body) return true;
        return length ? body.size() == *length : ends_;
    }
    bool client_has_left() override { return !reads_on; }
    std::int64_t given() const override { return static_cast<std::int64_t>(body.size()); }
    std::int64_t taken() override { return given(); }
    std::uint64_t sent_bytes() const override { return body.size(); }

private:
    void take(std::uint64_t bytes) {
        body.append(pending_, 0, bytes);
        pending_.erase(0, bytes);
        body_bytes_ += bytes;
        if (room != std::numeric_limits<std::uint64_t>::max()) room -= std::min(room, bytes);
    }

    std::vector<boost::asio::const_buffer> buffers_;
    std::string pending_;
    bool ends_ = false;
};

/// The body of a request that has none.
class NoBody final : public RequestBody {
public:
    bool done() const override { return true; }
    std::optional<std::uint64_t> length() const override { return std::nullopt; }
    bool has_open_length() const override { return false; }
    bool has_come() const override { return false; }
    bool take(std::vector<std::string_view>&) override { return false; }
    ParseError error() const override { return ParseError::ok; }
    boost::asio::awaitable<bool> receive_more() override { co_return false; }
    void interrupt() override {}
};

/// Serves requests through all steps above the seam, with the cache of a worker that never runs.
class RecordedTransport : public IdleCache {
public:
    /// One request and the response to it.
    class Exchange final : ClientService::Connection {
    public:
        Exchange(RecordedTransport& node, std::string_view method, std::string_view target,
                 std::vector<Field> fields)
            : node_(node) {
            request.body = &no_body_;
            request.begin(node.client_settings.share(), boost::asio::ip::make_address("10.0.0.9"));
            request.head = request_head(method, target, std::move(fields));
            stats.begin(std::chrono::steady_clock::now());
        }
        /// Serves it as far as it gets without waiting.
        void serve() {
            boost::asio::co_spawn(
                node_.io,
                [](Exchange& self) -> boost::asio::awaitable<void> {
                    if (!self.steps_.run_at_once()) co_await self.steps_.run();
                    self.served = true;
                }(*this),
                [](std::exception_ptr fault) {
                    if (fault) std::rethrow_exception(fault);
                });
            node_.io.restart();
            node_.io.poll();
        }

        Request request;
        RequestStats stats;
        RecordedResponse response;
        bool served = false;
        bool retired = false;
        bool of_peer = false;
        bool secure = true, from_here = true;

    private:
        void retire() override { retired = true; }
        void drain() override {}
        void give_way() override {}
        void peer_proven() override { of_peer = true; }
        bool encrypted() const override { return secure; }
        bool from_this_host() const override { return from_here; }
        void expire() override {}

        RecordedTransport& node_;
        NoBody no_body_;
        Transaction transaction_{
            node_.service, *this, request,
            response,      stats, std::make_shared<base::Wakeup>(node_.io.get_executor())};
        RequestSteps steps_{transaction_};
    };

    /// Work under way goes on as far as it gets.
    void go_on() {
        io.restart();
        io.poll();
    }

    /// Answers purges at once, as a node without peers.
    class Purges final : public RecordedEvents {
    public:
        void push(KeyChange change) override { RecordedEvents::push(change); }
        void push(NodeEvent event) override {
            if (auto* const purge = std::get_if<PurgeRequested>(&event)) {
                uris.push_back(std::move(purge->uri));
                purge->reply->give({200, "{}"});
            }
        }
        std::vector<std::string> uris;
    };

    ConfigInEffect client_settings{[this] {
        auto config = *settings;
        config.origins.clear();  // requests name their site
        config.forward.enabled = true;
        config.clients.purge = PrefixList{"10.0.0.0/8"};
        return std::make_shared<const LoadedConfig>(std::move(config));
    }()};
    Purges purges;
    SharedClientState shared_clients{*client_settings, purges};
    ClientService service{shared_clients, cache, client_settings};
};

}  // namespace proxy::test
