#pragma once

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "proxy/disk/disk_tier.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {

/// An index as simple as can be: one record for a URI.
class IndexOwner final : public DiskOwner {
public:
    struct Entry {
        RecordLocation place;
        std::uint32_t sectors = 1;
        unsigned uses = 0;
    };

    summary::KeyHash hash_of(std::string_view uri) const override { return test::hash_of(uri); }
    bool is_prefix_tag(summary::KeyHash /*hash*/) const override { return false; }
    std::vector<summary::KeyHash> prefix_tags_of(std::string_view /*uri*/) const override {
        return {};
    }
    void recovered(std::span<const RecoveredKey> batch) override {
        const std::lock_guard lock(mutex_);
        for (const auto& one : batch) {
            index_.try_emplace(std::string(one.entry.uri), Entry{one.place, one.entry.sectors, 0});
            recovered_ += 1;
            doubtful_ += one.doubtful ? 1 : 0;
        }
    }
    std::optional<unsigned> uses(const FooterEntry& entry, RecordLocation place) override {
        const std::lock_guard lock(mutex_);
        const auto at = find(entry, place);
        return at == index_.end() ? std::nullopt : std::optional(at->second.uses);
    }
    void moved(const FooterEntry& entry, RecordLocation from, RecordLocation to) override {
        const std::lock_guard lock(mutex_);
        const auto at = find(entry, from);
        if (at == index_.end()) return;
        at->second.place = to;
        at->second.uses = 0;
        ++moved_;
    }
    void dropped(const FooterEntry& entry, RecordLocation place) override {
        const std::lock_guard lock(mutex_);
        const auto at = find(entry, place);
        if (at != index_.end()) index_.erase(at);
        changed_.notify_all();
    }
    void lost(const LostRecords& places) override {
        const std::lock_guard lock(mutex_);
        if (!places.segment) lost_.push_back(places.directory);
        std::erase_if(index_, [&](const auto& one) { return places.has(one.second.place); });
        changed_.notify_all();
    }

    void put(const std::string& uri, Entry entry) {
        const std::lock_guard lock(mutex_);
        index_[uri] = entry;
    }
    void erase(const std::string& uri) {
        const std::lock_guard lock(mutex_);
        index_.erase(uri);
    }
    std::optional<Entry> at(const std::string& uri) const {
        const std::lock_guard lock(mutex_);
        const auto found = index_.find(uri);
        return found == index_.end() ? std::nullopt : std::optional(found->second);
    }
    void use(const std::string& uri, unsigned times) {
        const std::lock_guard lock(mutex_);
        if (const auto found = index_.find(uri); found != index_.end()) found->second.uses = times;
    }
    std::map<std::string, Entry> all() const {
        const std::lock_guard lock(mutex_);
        return index_;
    }
    std::vector<unsigned> lost() const {
        const std::lock_guard lock(mutex_);
        return lost_;
    }
    int moved_count() const {
        const std::lock_guard lock(mutex_);
        return moved_;
    }
    int recovered_count() const {
        const std::lock_guard lock(mutex_);
        return recovered_;
    }
    int doubtful_count() const {
        const std::lock_guard lock(mutex_);
        return doubtful_;
    }
    void wait_until_lost(std::size_t directories) {
        wait([&] { return lost_.size() == directories; });
    }
    void wait_until_empty() {
        wait([&] { return index_.empty(); });
    }

private:
    using Index = std::map<std::string, Entry>;
    Index::iterator find(const FooterEntry& entry, RecordLocation place) {
        const auto at = index_.find(std::string(entry.uri));
        return at == index_.end() || at->second.place == place ? at : index_.end();
    }
    template <class Condition>
    void wait(Condition condition) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, condition);
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Index index_;
    std::vector<unsigned> lost_;
    int moved_ = 0, recovered_ = 0, doubtful_ = 0;
};

/// A response to be written, which owns the bytes that it views.
inline DiskTier::Write write_of(const std::string& uri, std::string body, std::string meta,
                                std::function<void(DiskResult<RecordLocation>)> done) {
    struct Owned {
        std::string uri, body, meta;
    };
    auto owned = std::make_shared<Owned>(Owned{uri, std::move(body), std::move(meta)});
    DiskTier::Write write;
    write.record = response(owned->uri, 0, owned->body);
    write.record.meta = owned->meta;
    write.body = {part(owned->body)};
    write.owner = owned;
    write.done = std::move(done);
    return write;
}

/// All earlier content has been read.
inline void wait_until_loaded(const DiskTier& tier) {
    while (tier.loading()) std::this_thread::yield();
}

/// The answer of read().
inline DiskResult<LoadedRecord> read(DiskTier& tier, const std::string& uri,
                                     const IndexOwner::Entry& at) {
    std::promise<DiskResult<LoadedRecord>> answer;
    while (!tier.read({at.place, at.sectors}, uri,
                      [&](auto got) { answer.set_value(std::move(got)); }))
        std::this_thread::yield();
    return answer.get_future().get();
}

}  // namespace proxy::test
