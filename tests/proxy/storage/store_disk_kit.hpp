#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/disk/record_body.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "proxy/storage/store.hpp"
#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy::test {

inline constexpr std::uint64_t kMiB = 1 << 20;

/// A store over one directory that can be restarted, with its events.
class StoreNode {
public:
    using Clock = Store::Clock;

    struct Settings {
        std::uint64_t memory = 4 * kMiB;
        std::uint64_t cap = 64 * kMiB;
        std::uint64_t segment = 0;
        DiskAdmission admission = DiskAdmission::always;
        std::uint64_t queue = kMiB * 32;
    };

    /// For a disk that is soon full.
    static Settings few_segments(std::uint64_t memory,
                                 DiskAdmission admission = DiskAdmission::always) {
        return {memory, 6 * kMiB, kMiB, admission, kMiB * 32};
    }

    StoreNode() : StoreNode(Settings()) {}
    explicit StoreNode(Settings settings) : settings_(settings) { begin(); }
    ~StoreNode() { end(); }

    void begin() {
        events_.emplace(*this);
        store_.emplace(settings_.memory, hasher(), *events_);
        Store::DiskUse use;
        use.tier.directories = {{directory_.path(), settings_.cap, settings_.segment}};
        use.tier.secret_id = 1;
        use.tier.writer.queue_bytes = settings_.queue;
        use.admission = settings_.admission;
        use.remembered = 10'000;
        store_->use_disk(calls_, std::move(use));
        while (store_->disk()->loading()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    void end() {
        if (store_) store_->close_disk();
        store_.reset();
    }
    void restart() {
        end();
        begin();
    }

    std::shared_ptr<StoredResponse> response(
        std::string_view body, std::string_view variant = {},
        std::vector<summary::KeyHash> tags = {},
        std::chrono::seconds lifetime = std::chrono::seconds(1000)) {
        auto result = std::make_shared<StoredResponse>();
        result->status = 200;
        result->head_fields = "ETag: \"" + std::string(body.substr(0, 8)) + "\"\r\n";
        result->freshness.lifetime = saturate(lifetime);
        result->freshness.source = LifetimeSource::max_age;
        result->arrival = {Clock::now(), wall_now()};
        if (!variant.empty()) {
            result->vary_names = "accept-language";
            append_variant(result->variant, result->vary_names,
                           Head("Accept-Language: " + std::string(variant)));
        }
        result->tags = std::move(tags);
        auto for_head =
            store().reserve(Store::overhead_bytes("u", result->tags.size()), Clock::now());
        auto for_body = store().reserve(body.size(), Clock::now());
        if (!for_head || !for_body) return nullptr;
        result->charge = std::move(*for_head);
        result->body->add_block(body.size(), std::move(*for_body));
        result->body->append(body);
        return result;
    }
    /// The response after a 304 that allows so long: another head for the same body.
    static std::shared_ptr<StoredResponse> renewed(const StoredResponse& old,
                                                   std::chrono::seconds lifetime) {
        StoredMetadata metadata = old;
        metadata.freshness.lifetime = saturate(lifetime);
        return std::make_shared<StoredResponse>(metadata, old.body);
    }
    bool put(std::string_view uri, std::shared_ptr<StoredResponse> what) {
        const auto invalidations = store().invalidations();
        if (!what) return false;
        FillLease lease(store(), hash(uri), uri, nullptr);
        lease.stay_alone(invalidations);
        return lease.publish(std::move(what), Clock::now());
    }
    Store::Found look_up(std::string_view uri, const Head& request = "") {
        return store().find(hash(uri), uri, request, Clock::now());
    }
    /// As a request does it, with a wait for the disk.
    std::shared_ptr<const StoredResponse> get(std::string_view uri, const Head& request = "") {
        const auto patience = Clock::now() + std::chrono::seconds(60);
        while (Clock::now() < patience) {
            const auto found = look_up(uri, request);
            if (found.response || !found.on_disk) return found.response;
            const auto recall = store().recall(hash(uri), uri, wakeup_);
            if (recall == Store::Recall::refused) return nullptr;
            if (recall == Store::Recall::waiting)
                std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        ADD_FAILURE() << uri << " does not come";
        return nullptr;
    }
    std::string body_of(std::string_view uri, const Head& request = "") {
        const auto response = get(uri, request);
        return response ? text(*response) : "";
    }
    static std::string text(const StoredResponse& response) {
        if (const auto& body = response.body->on_disk()) return text(body);
        std::vector<boost::asio::const_buffer> buffers;
        response.body->view(0, response.body->size(), 1000, buffers);
        std::string all;
        for (const auto& buffer : buffers)
            all.append(static_cast<const char*>(buffer.data()), buffer.size());
        return all;
    }
    /// Reads the slices in turn, wherever they are: another process may have taken their pages.
    static std::string text(const std::shared_ptr<const RecordBody>& body) {
        std::string all;
        while (all.size() < body->size()) {
            std::promise<DiskResult<DiskBytes>> read;
            body->read_slice(body, all.size(), body,
                             [&read](auto slice) { read.set_value(std::move(slice)); });
            const auto slice = read.get_future().get();
            if (!slice) {
                ADD_FAILURE() << "a slice at " << all.size() << " is unreadable";
                return all;
            }
            all.append(reinterpret_cast<const char*>(slice->data()), slice->size());
        }
        return all;
    }
    /// All that was pushed is on the disk.
    void settle() {
        std::atomic<bool> done{false};
        store().disk()->end({}, [&] { done = true; });
        while (!done) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    /// Fills memory with other things.
    void push_out() {
        settle();
        const auto size = static_cast<std::size_t>(settings_.memory / 64);
        for (int i = 0; i < 100; ++i) {
            put("filler " + std::to_string(i), response(std::string(size, 'f')));
            settle();
        }
    }

    /// Called when this key is withdrawn, in the middle of its invalidation and under the lock of
    /// its shard, so it may use other shards only.
    summary::KeyHash removed;
    std::function<void()> when_removed;

    Store& store() { return *store_; }
    int announced(std::string_view uri) const { return events_->announced(hash(uri)); }
    const std::filesystem::path& path() const { return directory_.path(); }
    FaultyCalls& calls() { return calls_; }

private:
    class Events : public RecordedEvents {
    public:
        explicit Events(StoreNode& node) : node_(node) {}
        using RecordedEvents::push;
        void push(KeyChange change) override {
            RecordedEvents::push(change);
            // On a thread of its own, like a request, because this one has the lock of a shard.
            if (!change.stored && node_.when_removed && change.key == node_.removed)
                std::thread(std::exchange(node_.when_removed, {})).join();
        }

    private:
        StoreNode& node_;
    };

    const Settings settings_;
    TemporaryDirectory directory_;
    FaultyCalls calls_;
    std::optional<Events> events_;
    boost::asio::io_context io_;
    std::shared_ptr<base::Wakeup> wakeup_ = std::make_shared<base::Wakeup>(io_.get_executor());
    std::optional<Store> store_;
};

}  // namespace proxy::test
