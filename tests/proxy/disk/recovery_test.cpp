#include "proxy/disk/recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "proxy/disk/segment_log.hpp"
#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/proxy/disk/recovery_kit.hpp"

namespace proxy {
namespace recovery_test {

constexpr std::uint64_t kSegment = 32 * 1024;
constexpr std::uint64_t kId = 0x5eed;

class RecoveryTest : public testing::Test {
protected:
    void open(std::uint32_t next_segment = 1) {
        ReclaimHooks reclaim_hooks;
        reclaim_hooks.uses = [](const FooterEntry&, RecordLocation) { return 0u; };
        reclaim_hooks.moved = [](const FooterEntry&, RecordLocation, RecordLocation) {};
        reclaim_hooks.dropped = [](const FooterEntry&, RecordLocation) {};
        log_.emplace(calls_, SegmentLog::Config{path(), kId, 64 * kSegment, kSegment, next_segment},
                     reclaim_hooks);
    }
    void put(Record record, std::string_view body = {}) {
        record.seq = ++seq_;
        ASSERT_FALSE(log_->make_room(*sizes_of(record), footer_bytes(record)));
        const iovec part = test::part(body);
        places_.push_back(log_->add(record, {&part, 1}));
        ASSERT_FALSE(log_->flush());
    }
    void put_response(const std::string& uri) {
        const auto body = test::made_body(seq_ + 1, 700);
        put(test::response(uri, 0, body), body);
    }
    /// The URIs that count after any change of the files, each with the seq of its record. Each of
    /// them must be readable, unless it says that it is not.
    std::map<std::string, std::uint64_t> recovered() {
        std::map<std::string, std::uint64_t> found;
        doubtful_.clear();
        std::vector<std::pair<std::string, RecordLocation>> places;
        auto result = test::recover_all(calls_, path(), kId, [&](const RecoveredKey& one) {
            EXPECT_TRUE(found.emplace(one.entry.uri, one.entry.seq).second);
            EXPECT_EQ(one.key, test::hash_of(one.entry.uri));
            if (one.doubtful) doubtful_.emplace(one.entry.uri);
            places.emplace_back(one.entry.uri, one.place);
        });
        EXPECT_TRUE(result);
        result_ = std::move(*result);
        for (const auto& [uri, place] : places) {
            const auto at = std::ranges::find(result_.segments, place.segment,
                                              [](const auto& one) { return one->number(); });
            if (at == result_.segments.end()) {
                ADD_FAILURE() << uri;
                continue;
            }
            const auto loaded = load_record(**at, place.sector, 2);
            if (!loaded) {
                found.erase(uri);  // noticed when it is used
                continue;
            }
            EXPECT_EQ(loaded->record.uri, uri);
            EXPECT_EQ(as_text(loaded->body), test::made_body(loaded->record.seq, 700));
        }
        return found;
    }
    const std::filesystem::path& path() const { return directory_.path(); }
    std::filesystem::path file(std::uint32_t number) const { return path() / segment_name(number); }
    static std::string read(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void write(const std::filesystem::path& file, std::string_view bytes) {
        // In place, as replacing a whole file makes some file systems write it to the device.
        std::ofstream(file, std::ios::binary | std::ios::app).flush();
        std::fstream(file, std::ios::binary | std::ios::in | std::ios::out) << bytes;
        std::filesystem::resize_file(file, bytes.size());
    }

    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
    std::optional<SegmentLog> log_;
    std::uint64_t seq_ = 0;
    std::vector<RecordLocation> places_;
    std::set<std::string> doubtful_;
    test::Found result_;
};

TEST_F(RecoveryTest, FindsAnEmptyDirectoryEmpty) {
    EXPECT_TRUE(recovered().empty());
    EXPECT_EQ(next_segment_number(path()).value(), 1u);
    EXPECT_FALSE(test::recover_all(calls_, path() / "none", kId, [](const RecoveredKey&) {}));
    EXPECT_FALSE(next_segment_number(path() / "none"));
}

TEST_F(RecoveryTest, FindsTheSameWithAndWithoutFooters) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i % 60));
    const auto unsealed = recovered();
    EXPECT_EQ(result_.found_unsealed, 1u);  // the one that is being written
    ASSERT_FALSE(log_->seal());
    const auto sealed = recovered();
    EXPECT_EQ(result_.found_unsealed, 0u);
    EXPECT_EQ(sealed, unsealed);
    EXPECT_EQ(sealed.size(), 60u);
    EXPECT_EQ(sealed.at("http://a/0"), 61u);  // the last ones
    EXPECT_EQ(sealed.at("http://a/59"), 60u);
    EXPECT_EQ(result_.superseded, 40u);
    EXPECT_EQ(result_.last_seq, 100u);
    EXPECT_EQ(next_segment_number(path()).value(), result_.segments.back()->number() + 1);
    EXPECT_EQ(result_.found_damaged + result_.found_unreadable, 0u);
    EXPECT_TRUE(doubtful_.empty());
}

TEST_F(RecoveryTest, BringsNoPurgedRecordBack) {
    open();
    for (int i = 0; i < 40; ++i) put_response("http://a/" + std::to_string(i));
    for (int i = 0; i < 10; ++i)
        put(test::tombstone(RecordType::gone, 0, {test::hash_of("http://a/" + std::to_string(i))}));
    put_response("http://a/5");  // fetched again
    auto tagged = test::response("http://tagged/", 0, {});
    const auto body = test::made_body(seq_ + 1, 700);
    tagged.tags = {{77, 77}};
    tagged.body_bytes = body.size();
    put(tagged, body);
    put(test::tombstone(RecordType::gone, 0, {{77, 77}, {78, 78}}));
    for (const bool sealed : {false, true}) {
        if (sealed) {
            ASSERT_FALSE(log_->seal());
        }
        const auto found = recovered();
        EXPECT_EQ(found.size(), 31u);
        EXPECT_FALSE(found.contains("http://a/4"));
        EXPECT_TRUE(found.contains("http://a/5"));
        EXPECT_TRUE(found.contains("http://a/10"));
        EXPECT_FALSE(found.contains("http://tagged/"));
        EXPECT_EQ(result_.purged, 11u);
    }
    open(100);
    put(test::tombstone(RecordType::all_gone, 0));
    put_response("http://new/");
    EXPECT_EQ(recovered().size(), 1u);
}

// The version that the tag named had taken the place of one that it did not.
TEST_F(RecoveryTest, BringsNoRecordBackFromBeforeAPurgedOne) {
    open();
    auto plain = test::response("http://a/", 0, "first");
    plain.tags.clear();
    put(plain, "first");
    put(test::response("http://a/", 0, "second"), "second");
    put(test::tombstone(RecordType::gone, 0, {{3, 4}}));
    EXPECT_TRUE(recovered().empty());
    EXPECT_EQ(result_.purged, 1u);
    EXPECT_EQ(result_.superseded, 1u);
}

TEST_F(RecoveryTest, KeepsEachVariant) {
    open();
    for (const std::string_view variant : {"gzip\n", "br\n", "gzip\n"}) {
        const auto body = test::made_body(seq_ + 1, 700);
        auto record = test::response("http://a/", 0, body);
        record.variant = variant;
        put(record, body);
    }
    std::set<std::uint64_t> seqs;
    const auto result = test::recover_all(
        calls_, path(), kId, [&](const RecoveredKey& one) { seqs.insert(one.entry.seq); });
    ASSERT_TRUE(result);
    EXPECT_EQ(seqs, (std::set<std::uint64_t>{2, 3}));
}

// A log that ends anywhere: cut off, or with zeros from there on, as after a loss of power.
TEST_F(RecoveryTest, FindsAllCompleteRecordsWhereverTheLogEnds) {
    open();
    for (int i = 0; i < 5; ++i) put_response("http://a/" + std::to_string(i));
    put(test::tombstone(RecordType::gone, 0, {test::hash_of("http://a/0")}));
    put_response("http://a/5");
    const auto whole = read(file(1));
    const auto ends = [&](std::size_t i) {
        return i + 1 < places_.size() ? places_[i + 1].sector * kDiskSector
                                      : places_[i].sector * kDiskSector + 2 * kDiskSector;
    };
    const auto end = ends(places_.size() - 1);
    for (std::size_t cut = 0; cut <= end; cut += cut % 512 < 80 || cut % 512 > 500 ? 5 : 97) {
        for (const bool zeros : {false, true}) {
            auto bytes = whole.substr(0, cut);
            if (zeros) bytes.resize(kSegment, '\0');
            write(file(1), bytes);
            const auto found = recovered();
            for (std::size_t i = 0; i < places_.size(); ++i) {
                if (i == 5) continue;  // the tombstone
                const auto uri = "http://a/" + std::to_string(i < 5 ? i : 5);
                // Padding may be missing.
                const bool there = cut + 511 >= ends(i) && cut >= kDiskSector;
                if (!there) {
                    EXPECT_FALSE(found.contains(uri)) << cut << uri;
                }
                if (cut >= ends(i) && (i > 0 || cut < ends(4))) {
                    EXPECT_TRUE(found.contains(uri)) << cut << uri;
                }
            }
            if (cut >= ends(5)) {
                EXPECT_FALSE(found.contains("http://a/0")) << cut;
            }
        }
    }
}

TEST_F(RecoveryTest, GivesNoWrongRecordForAnyFlippedBit) {
    open();
    for (int i = 0; i < 3; ++i) put_response("http://a/" + std::to_string(i));
    for (const bool sealed : {false, true}) {
        if (sealed) {
            ASSERT_FALSE(log_->seal());
        }
        const auto whole = read(file(1));
        for (std::size_t byte = 0; byte < whole.size(); byte += byte < 6'000 ? 13 : 149) {
            auto bytes = whole;
            bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << byte % 8));
            write(file(1), bytes);
            const auto found = recovered();  // checks each that it gives
            EXPECT_GE(found.size() + (byte < kDiskSector ? 3 : 1), 3u) << byte;
        }
        write(file(1), whole);
    }
    EXPECT_EQ(recovered().size(), 3u);
}

TEST_F(RecoveryTest, DoubtsRecordsOlderThanALoss) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i));
    ASSERT_FALSE(log_->seal());
    ASSERT_GE(places_.back().segment, 3u);
    // In the second segment both the footer and a record are gone, maybe a tombstone.
    auto bytes = read(file(2));
    bytes[bytes.size() - kDiskSector] ^= 1;
    bytes[places_[0].sector * kDiskSector + 70] ^= 1;
    write(file(2), bytes);
    const auto found = recovered();
    EXPECT_EQ(found.size(), 99u);
    EXPECT_EQ(result_.found_damaged, 1u);
    EXPECT_TRUE(doubtful_.contains("http://a/0"));    // in the first
    EXPECT_FALSE(doubtful_.contains("http://a/99"));  // in the last
}

// As a device may lose a page: there was something, maybe a tombstone.
TEST_F(RecoveryTest, DoubtsRecordsOlderThanASegmentWithoutItsHeader) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i));
    const auto last = places_.back().segment;
    ASSERT_GE(last, 3u);
    const auto all = read(file(last)), first = read(file(1));
    write(file(last), std::string(kDiskSector, '\0') + all.substr(kDiskSector));
    auto found = recovered();
    EXPECT_EQ(found.size(), doubtful_.size());
    EXPECT_EQ(result_.found_unreadable, 1u);
    EXPECT_FALSE(std::filesystem::exists(file(last)));
    // Its records are gone, but not its trailer.
    write(file(last),
          std::string(kSegment - kDiskSector, '\0') + first.substr(kSegment - kDiskSector));
    found = recovered();
    EXPECT_EQ(found.size(), doubtful_.size());
    EXPECT_EQ(result_.found_unreadable, 1u);
    // A kill may leave the newest without anything in it, and no other.
    write(file(last), std::string(kSegment, '\0'));
    EXPECT_FALSE(recovered().empty());
    EXPECT_TRUE(doubtful_.empty());
    write(file(last - 1), std::string(kSegment, '\0'));
    std::filesystem::copy_file(file(1), file(last));  // any that is newer
    recovered();
    EXPECT_EQ(result_.found_unreadable + result_.found_foreign, 2u);
}

TEST_F(RecoveryTest, DoubtsRecordsOlderThanASpoiltTrailer) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i));
    ASSERT_FALSE(log_->seal());
    auto bytes = read(file(2));
    bytes.replace(bytes.size() - kDiskSector, 4, 4, '\0');
    write(file(2), bytes);
    EXPECT_EQ(recovered().size(), 100u);
    EXPECT_EQ(result_.found_damaged, 1u);
    EXPECT_TRUE(doubtful_.contains("http://a/0"));
    EXPECT_FALSE(doubtful_.contains("http://a/99"));
}

TEST_F(RecoveryTest, PassesOverFilesThatAreNoSegments) {
    open();
    for (int i = 0; i < 10; ++i) put_response("http://a/" + std::to_string(i));
    write(path() / segment_name(90), "nothing of ours");
    std::filesystem::copy_file(file(1), path() / segment_name(91));  // the number says otherwise
    write(path() / segment_name(92), "");
    write(path() / "README", "none at all");
    EXPECT_EQ(recovered().size(), 10u);
    EXPECT_EQ(result_.found_unreadable, 1u);  // of an empty one nothing was lost
    EXPECT_EQ(result_.found_foreign, 1u);
    EXPECT_EQ(result_.recovered_doubtful, 10u);
    EXPECT_FALSE(std::filesystem::exists(path() / segment_name(90)));
    EXPECT_TRUE(std::filesystem::exists(path() / segment_name(91)));
    EXPECT_FALSE(std::filesystem::exists(path() / segment_name(92)));
    EXPECT_EQ(next_segment_number(path()).value(), 92u);
    EXPECT_EQ(doubtful_.size(), 10u);
    const auto others =
        test::recover_all(calls_, path(), kId + 1, [](const RecoveredKey&) { FAIL(); });
    EXPECT_EQ(others->recovered, 0u);
}

TEST_F(RecoveryTest, OutlivesADiskThatDoesNotRead) {
    open();
    for (int i = 0; i < 50; ++i) put_response("http://a/" + std::to_string(i));
    ASSERT_FALSE(log_->seal());
    calls_.on_read = EIO;
    EXPECT_TRUE(recovered().empty());
    EXPECT_GE(result_.found_unreadable, 2u);
    calls_.failures_left = 1;  // the newest alone
    const auto rest = recovered();
    EXPECT_GE(rest.size(), 20u);
    EXPECT_EQ(doubtful_.size(), rest.size());
}

// A segment whose records were written again is still there: the process died before it removed it.
TEST_F(RecoveryTest, TakesOneOfTwoCopies) {
    open();
    put_response("http://a/1");
    const auto loaded = load_record(*log_->find(1), places_[0].sector, 1);
    ASSERT_TRUE(loaded);
    ASSERT_FALSE(log_->seal());
    open(2);
    const iovec body{const_cast<std::byte*>(loaded->body.data()), loaded->body.size()};
    ASSERT_FALSE(log_->make_room(*sizes_of(loaded->record), footer_bytes(loaded->record)));
    log_->add(loaded->record, {&body, 1});
    ASSERT_FALSE(log_->flush());
    EXPECT_EQ(recovered(), (std::map<std::string, std::uint64_t>{{"http://a/1", 1}}));
    EXPECT_EQ(result_.superseded, 1u);
}

// However many threads read, order and numbers are the same; batches stay within their bound.
TEST_F(RecoveryTest, IsTheSameWithAnyNumberOfThreads) {
    open();
    for (int i = 0; i < 900; ++i) {
        put_response("http://a/" + std::to_string(i % 700));
        if (i % 7 == 0)
            put(test::tombstone(RecordType::gone, 0,
                                {test::hash_of("http://a/" + std::to_string(i % 500))}));
    }
    std::vector<std::uint64_t> first;
    for (const unsigned threads : {1u, 2u, 4u, 9u}) {
        std::vector<std::uint64_t> seqs;
        const auto found = test::recover_all(
            calls_, path(), kId, [&](const RecoveredKey& one) { seqs.push_back(one.entry.seq); },
            threads);
        ASSERT_TRUE(found);
        EXPECT_GT(found->segments.size(), 20u);
        EXPECT_EQ(found->recovered, seqs.size());
        EXPECT_GT(found->purged, 50u);
        if (first.empty()) first = seqs;
        EXPECT_EQ(seqs, first);
    }
}

TEST_F(RecoveryTest, StopsOnRequest) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i));
    int segments = 0;
    RecoveryHooks hooks;
    hooks.hash_of = test::hash_of;
    hooks.opened = [&](const SegmentPtr&) { return ++segments > 0; };
    hooks.counts = [](const FooterEntry&, summary::KeyHash) { return true; };
    hooks.recovered = [](std::span<RecoveredKey> batch) { EXPECT_FALSE(batch.empty()); };
    hooks.stopped = [&] { return segments == 2; };
    ASSERT_TRUE(recover(calls_, path(), kId, 4, hooks));
    EXPECT_EQ(segments, 2);
}

TEST_F(RecoveryTest, RemovesUnwantedSegments) {
    open();
    for (int i = 0; i < 100; ++i) put_response("http://a/" + std::to_string(i));
    RecoveryHooks hooks;
    hooks.hash_of = test::hash_of;
    hooks.opened = [](const SegmentPtr& segment) { return segment->number() != 2; };
    hooks.counts = [](const FooterEntry&, summary::KeyHash) { return true; };
    hooks.recovered = [](std::span<RecoveredKey> batch) {
        for (const auto& one : batch) EXPECT_NE(one.place.segment, 2u);
    };
    hooks.stopped = [] { return false; };
    ASSERT_TRUE(recover(calls_, path(), kId, 2, hooks));
    EXPECT_FALSE(std::filesystem::exists(file(2)));
    EXPECT_TRUE(std::filesystem::exists(file(1)));
    EXPECT_FALSE(remove_segments(calls_, path()));
    EXPECT_FALSE(std::filesystem::exists(file(1)));
}

}  // namespace recovery_test
}  // namespace proxy
