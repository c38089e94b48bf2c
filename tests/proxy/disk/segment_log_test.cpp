#include "proxy/disk/segment_log.hpp"

#include <fcntl.h>

#include <gtest/gtest.h>

#include <map>
#include <ranges>
#include <set>

#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/proxy/disk/recovery_kit.hpp"

namespace proxy {
namespace segment_log_test {

constexpr std::uint64_t kSegment = 64 * 1024, kMiB = 1 << 20;
constexpr std::uint64_t kId = 0xabcdef;

/// A log with an index as simple as can be.
class SegmentLogTest : public testing::Test {
protected:
    struct Indexed {
        RecordLocation place;
        unsigned uses = 0;
    };

    SegmentLog& open(std::uint64_t segments) {
        SegmentLog::Config config{directory_.path(), kId, segments * segment_bytes_, segment_bytes_,
                                  next_};
        ReclaimHooks reclaim_hooks;
        reclaim_hooks.uses = [this](const FooterEntry& entry,
                                    RecordLocation place) -> std::optional<unsigned> {
            const auto found = index_.find(std::string(entry.uri));
            if (found == index_.end() || found->second.place != place) return std::nullopt;
            return found->second.uses;
        };
        reclaim_hooks.moved = [this](const FooterEntry& entry, RecordLocation from,
                                     RecordLocation to) {
            EXPECT_EQ(index_.at(std::string(entry.uri)).place, from);
            index_[std::string(entry.uri)] = {to, 0};
            ++moved_;
        };
        reclaim_hooks.dropped = [this](const FooterEntry& entry, RecordLocation place) {
            const auto found = index_.find(std::string(entry.uri));
            if (found != index_.end() && found->second.place == place) index_.erase(found);
        };
        reclaim_hooks.lost = [this](std::uint32_t segment) {
            lost_.push_back(segment);
            std::erase_if(index_,
                          [&](const auto& one) { return one.second.place.segment == segment; });
        };
        reclaim_hooks.failed = [this](const boost::system::error_code& error) {
            failures_.push_back(error);
        };
        log_.emplace(calls_, config, reclaim_hooks);
        return *log_;
    }
    /// As the next process does it. Its findings about the segments that it has.
    RecoveryResult reopen(std::uint64_t segments) {
        log_.reset();
        next_ = *next_segment_number(directory_.path());
        open(segments);
        const auto found = test::recover_all(calls_, directory_.path(), kId, [](const auto&) {});
        for (const auto& newest_first : found->segments | std::views::reverse)
            EXPECT_TRUE(log_->adopt(newest_first));
        if (found->last) went_on_ = log_->go_on(*found->last);
        return *found;
    }
    void overwrite(std::uint32_t segment, std::uint64_t at, std::string_view bytes) const {
        test::overwrite(directory_.path() / segment_name(segment), at, bytes);
    }
    void spoil(std::uint32_t segment, std::uint64_t at) const {
        test::spoil(directory_.path() / segment_name(segment), at);
    }
    boost::system::error_code put(const std::string& uri, std::size_t body_bytes) {
        const auto body = test::made_body(std::hash<std::string>()(uri), body_bytes);
        const auto record = test::response(uri, ++seq_, body);
        const auto sizes = sizes_of(record);
        if (const auto error = log_->make_room(*sizes, footer_bytes(record))) return error;
        const iovec part = test::part(body);
        const auto place = log_->add(record, {&part, 1});
        if (const auto error = log_->flush()) return error;
        index_[uri] = {place, 0};
        return {};
    }
    /// Every record of the index can be read, and is as it was written.
    void expect_all_right() {
        for (const auto& [uri, at] : index_) {
            const auto segment = log_->find(at.place.segment);
            ASSERT_TRUE(segment) << uri;
            const auto loaded = load_record(*segment, at.place.sector, 1);
            ASSERT_TRUE(loaded) << uri << loaded.error();
            EXPECT_EQ(loaded->record.uri, uri);
            EXPECT_EQ(as_text(loaded->body),
                      test::made_body(std::hash<std::string>()(uri), loaded->body.size()));
        }
    }
    std::uint64_t bytes_of_files() const {
        std::uint64_t bytes = 0;
        for (const auto& file : std::filesystem::directory_iterator(directory_.path()))
            bytes += file.file_size();
        return bytes;
    }

    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
    std::uint64_t segment_bytes_ = kSegment;
    std::uint32_t next_ = 1;
    std::uint64_t seq_ = 0;
    std::map<std::string, Indexed> index_;
    std::optional<SegmentLog> log_;
    std::vector<std::uint32_t> lost_;
    std::vector<boost::system::error_code> failures_;
    boost::system::error_code went_on_;
    int moved_ = 0;
};

TEST(SegmentBytes, FollowFromTheCap) {
    EXPECT_EQ(segment_bytes_for(1ull << 30), 32ull << 20);
    EXPECT_EQ(segment_bytes_for(20ull << 30), 40ull << 20);
    EXPECT_EQ(segment_bytes_for(4ull << 40), 256ull << 20);
    EXPECT_EQ(segment_bytes_for(4ull << 20), 1ull << 20);
    EXPECT_EQ(segment_bytes_for(1), 1ull << 20);
    EXPECT_EQ(body_max_for(1ull << 30), 7ull << 20);
    EXPECT_EQ(body_max_for(4ull << 40), 63ull << 20);
    EXPECT_EQ(body_max_for(1), 128ull << 10);
}

TEST_F(SegmentLogTest, ReadsItsRecords) {
    open(8);
    for (int i = 0; i < 40; ++i) ASSERT_FALSE(put("http://a/" + std::to_string(i), i * 300));
    EXPECT_GE(log_->stats().segments, 2u);
    EXPECT_EQ(index_.size(), 40u);
    expect_all_right();
}

TEST_F(SegmentLogTest, GathersManyRecordsInOneWrite) {
    open(8);
    const auto body = test::made_body(1, 700);
    const iovec part = test::part(body);
    std::vector<RecordLocation> places;
    for (std::uint64_t i = 1; i <= 10; ++i) {
        const auto record = test::response("http://a/", i, body);
        ASSERT_FALSE(log_->make_room(*sizes_of(record), footer_bytes(record)));
        places.push_back(log_->add(record, {&part, 1}));
    }
    EXPECT_EQ(log_->stats().written_bytes, 0u);
    ASSERT_FALSE(log_->flush());
    EXPECT_GT(log_->stats().written_bytes, 7'000u);
    for (std::uint64_t i = 1; i <= 10; ++i) {
        const auto loaded = load_record(*log_->find(1), places[i - 1].sector, 4);
        ASSERT_TRUE(loaded);
        EXPECT_EQ(loaded->record.seq, i);
    }
}

// Ends of processes: see also disk_crash_test.cpp.

TEST_F(SegmentLogTest, GoesOnWithTheSegmentThatAnEndLeft) {
    open(8);
    for (int life = 0; life < 20; ++life) {
        for (int i = 0; i < 3; ++i)
            ASSERT_FALSE(put("http://a/" + std::to_string(3 * life + i), 100 + 50 * i));
        if (life % 3 == 1) {
            ASSERT_FALSE(log_->seal());  // else it was killed
        }
        const auto found = reopen(8);
        EXPECT_EQ(found.recovered, index_.size());
        EXPECT_EQ(found.recovered_torn + found.found_damaged + found.found_unreadable, 0u);
        ASSERT_FALSE(went_on_);
        expect_all_right();
    }
    EXPECT_EQ(log_->stats().segments, 1u) << "60 of 1 KiB in 64 KiB";
    for (int i = 0; i < 40; ++i) ASSERT_FALSE(put("http://b/" + std::to_string(i), 1'000));
    EXPECT_GE(log_->stats().segments, 2u);
    expect_all_right();
    EXPECT_EQ(reopen(8).recovered, index_.size());
}

TEST_F(SegmentLogTest, WritesOverATornRecord) {
    const auto body = test::made_body(5, 9'000);
    const auto record = test::response("http://torn/", 7, body);
    DiskBytes whole;
    const iovec part = test::part(body);
    encode_record(record, {&part, 1}, {kId, 1}, whole);
    const auto head = whole.size();
    put_text(whole, body);
    for (const auto cut : {std::size_t{30}, head - 1, head, whole.size() - 1, whole.size()}) {
        for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
            std::filesystem::remove(entry.path());
        index_.clear();
        next_ = 1;
        open(8);
        ASSERT_FALSE(put("http://a/", 700));
        const auto at = index_.at("http://a/").place.sector + 2;
        overwrite(1, at * kDiskSector, as_text(whole).substr(0, cut));
        const auto found = reopen(8);
        const bool is_whole = cut == whole.size();
        EXPECT_EQ(found.recovered, is_whole ? 2u : 1u) << cut;
        EXPECT_EQ(found.recovered_torn, cut >= head && !is_whole ? 1u : 0u) << cut;
        ASSERT_FALSE(put("http://b/", 100));
        const auto next = is_whole ? at + 18 : at;
        EXPECT_EQ(index_.at("http://b/").place, (RecordLocation{1, next})) << cut;
        const auto again = reopen(8);
        EXPECT_EQ(again.recovered, is_whole ? 3u : 2u) << cut;
        EXPECT_EQ(again.found_damaged, 0u) << "what is left of it lies behind";
        expect_all_right();
    }
}

TEST_F(SegmentLogTest, LeavesADamagedSegmentAsItIs) {
    open(8);
    for (int i = 0; i < 3; ++i) ASSERT_FALSE(put("http://a/" + std::to_string(i), 100));
    spoil(1, index_.at("http://a/1").place.sector * kDiskSector + 70);
    index_.erase("http://a/1");
    const auto found = reopen(8);
    EXPECT_EQ(found.found_damaged, 1u);
    EXPECT_FALSE(found.last);
    ASSERT_FALSE(put("http://b/", 100));
    EXPECT_EQ(index_.at("http://b/").place.segment, 2u);
    expect_all_right();
}

TEST_F(SegmentLogTest, LeavesOneOfAnotherSizeAsItIs) {
    open(8);
    ASSERT_FALSE(put("http://a/", 100));
    segment_bytes_ = 2 * kSegment;
    EXPECT_TRUE(reopen(8).last);
    ASSERT_FALSE(put("http://b/", 100));
    EXPECT_EQ(index_.at("http://b/").place.segment, 2u);
    expect_all_right();
}

TEST_F(SegmentLogTest, LeavesASealedSegmentThatCannotBeUnsealed) {
    open(8);
    ASSERT_FALSE(put("http://a/", 100));
    ASSERT_FALSE(log_->seal());
    for (auto* fails : {&calls_.on_write, &calls_.on_sync, &calls_.on_reserve}) {
        *fails = EIO;
        EXPECT_EQ(reopen(8).recovered, 1u);
        EXPECT_EQ(went_on_, boost::system::errc::io_error);
        *fails = 0;
    }
    ASSERT_FALSE(put("http://b/", 100));
    EXPECT_EQ(index_.at("http://b/").place.segment, 2u);
    expect_all_right();
    EXPECT_EQ(reopen(8).recovered, 2u);
}

TEST_F(SegmentLogTest, ReportsAReclaimedSegmentThatItCannotRead) {
    open(4);
    for (int i = 0; log_->stats().segments < 3; ++i)
        ASSERT_FALSE(put("http://a/" + std::to_string(i), 6'000));
    const auto in_first = std::ranges::count_if(
        index_, [](const auto& one) { return one.second.place.segment == 1; });
    ASSERT_GT(in_first, 3);
    calls_.on_read = EIO;
    calls_.failures_left = 1;
    for (int i = 0; log_->stats().reclaimed == 0; ++i)
        ASSERT_FALSE(put("http://b/" + std::to_string(i), 6'000));
    EXPECT_EQ(lost_, std::vector{1u});
    ASSERT_EQ(failures_.size(), 1u);
    EXPECT_EQ(failures_[0], boost::system::errc::io_error);
    expect_all_right();
    // If parts are spoilt, readable records are reported one by one before.
    const auto spoilt =
        std::ranges::find(index_, 2u, [](const auto& one) { return one.second.place.segment; });
    ASSERT_NE(spoilt, index_.end());
    spoil(2, spoilt->second.place.sector * kDiskSector + 70);
    spoil(2, kSegment - 100);
    spoil(2, kSegment - kDiskSector + 5);
    for (int i = 0; log_->stats().reclaimed == 1; ++i)
        ASSERT_FALSE(put("http://c/" + std::to_string(i), 6'000));
    EXPECT_EQ(lost_, (std::vector{1u, 2u}));
    expect_all_right();
}

TEST_F(SegmentLogTest, NeverTakesMoreThanItsCap) {
    open(4);
    for (int i = 0; i < 400; ++i) {
        ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
        ASSERT_LE(bytes_of_files(), 4 * kSegment);
        ASSERT_EQ(log_->stats().bytes, bytes_of_files());
    }
    EXPECT_GE(log_->stats().reclaimed, 15u);
    EXPECT_GE(index_.size(), 40u);  // three segments at least
    EXPECT_TRUE(index_.contains("http://a/399"));
    expect_all_right();
}

TEST_F(SegmentLogTest, ReadmitsUsedRecordsUpToASixthOfAllWrites) {
    open(4);
    for (int i = 0; i < 400; ++i) {
        ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
        if (index_.contains("http://a/3")) index_["http://a/3"].uses = 2;
        if (i % 2 == 0) index_["http://a/" + std::to_string(i)].uses = 1;
    }
    EXPECT_TRUE(index_.contains("http://a/3"));  // as the most used, each time
    const auto stats = log_->stats();
    EXPECT_GE(moved_, 20);
    const auto fresh = stats.written_bytes - stats.readmitted_bytes;
    EXPECT_LE(static_cast<double>(stats.written_bytes), 1.2 * static_cast<double>(fresh));
    EXPECT_GE(static_cast<double>(stats.written_bytes), 1.1 * static_cast<double>(fresh));
    expect_all_right();
}

TEST_F(SegmentLogTest, LetsReadersFinishWithARemovedSegment) {
    open(3);
    ASSERT_FALSE(put("http://first/", 5'000));
    const auto place = index_["http://first/"].place;
    auto kept = log_->find(place.segment);
    for (int i = 0; log_->find(place.segment); ++i) {
        ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
    }
    EXPECT_FALSE(index_.contains("http://first/"));
    EXPECT_FALSE(std::filesystem::exists(kept->path));
    EXPECT_TRUE(load_record(*kept, place.sector, 1));
    // The log closes the file, which frees its room, and not the last reader.
    const auto fd = kept->file.fd();
    ASSERT_TRUE(log_->give_back());
    kept.reset();
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
    ASSERT_TRUE(log_->give_back());
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST_F(SegmentLogTest, RefusesRecordsOfMoreThanAQuarterOfASegment) {
    open(4);
    EXPECT_EQ(put("http://a/", kSegment / 4), DiskError::too_large);
    EXPECT_FALSE(put("http://a/", kSegment / 4 - 2'000));
}

TEST_F(SegmentLogTest, RemovesSegmentsForALowerCap) {
    open(8);
    for (int i = 0; i < 400; ++i) ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
    EXPECT_GE(log_->stats().segments, 7u);
    log_->set_cap(4 * kSegment);
    while (*log_->give_back() == SegmentLog::GaveBack::a_segment)
        ;
    EXPECT_LE(bytes_of_files(), 4 * kSegment);
    expect_all_right();
    for (int i = 0; i < 100; ++i) ASSERT_FALSE(put("http://b/" + std::to_string(i), 3'000));
    EXPECT_LE(bytes_of_files(), 4 * kSegment);
}

// The rest of the node follows the values of a reload at once.
TEST_F(SegmentLogTest, MakesSegmentsOfTheSizeThatItsCapAsksForNow) {
    segment_bytes_ = 0;
    open(0);
    log_->set_cap(16 * kMiB);
    ASSERT_FALSE(put("http://a/", kMiB - 4'000));
    EXPECT_EQ(put("http://b/", kMiB + 4'000), DiskError::too_large);
    log_->set_cap(64 * kMiB);
    EXPECT_EQ(log_->stats().segment_bytes, 16 * kMiB);
    ASSERT_FALSE(put("http://b/", kMiB + 4'000));
    ASSERT_FALSE(put("http://c/", 3 * kMiB));
    EXPECT_EQ(log_->stats().segments, 2u);
    EXPECT_EQ(log_->stats().bytes, 20 * kMiB);
    expect_all_right();
    EXPECT_EQ(reopen(0).recovered, 3u);
    log_->set_cap(16 * kMiB);
    EXPECT_EQ(put("http://d/", 3 * kMiB), DiskError::too_large);
    ASSERT_FALSE(put("http://d/", 4'000));
    while (*log_->give_back() == SegmentLog::GaveBack::a_segment)
        ;
    EXPECT_LE(bytes_of_files(), 16 * kMiB);
    EXPECT_LE(log_->stats().cap_bytes, 16 * kMiB);
    expect_all_right();
}

TEST_F(SegmentLogTest, GivesASegmentBackWhenTheDiskIsFull) {
    open(8);
    for (int i = 0; i < 60; ++i) ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
    const auto segments = log_->stats().segments;
    calls_.on_reserve = ENOSPC;
    calls_.failures_left = 1;
    for (int i = 0; calls_.failures_left > 0; ++i)
        ASSERT_FALSE(put("http://b/" + std::to_string(i), 3'000));
    EXPECT_EQ(log_->stats().segments, segments);
    expect_all_right();
    // And if that does not help, it says so, leaves no empty file, and goes on later.
    calls_.failures_left = 1 << 30;
    boost::system::error_code error;
    for (int i = 0; !error && i < 100; ++i) error = put("http://c/" + std::to_string(i), 3'000);
    EXPECT_EQ(error, boost::system::errc::no_space_on_device);
    expect_all_right();
    calls_.on_reserve = 0;
    EXPECT_FALSE(put("http://d/", 3'000));
    EXPECT_EQ(log_->stats().bytes, bytes_of_files());
    expect_all_right();
}

TEST_F(SegmentLogTest, GoesOnInANewSegmentAfterAnErrorOfTheDisk) {
    open(8);
    ASSERT_FALSE(put("http://a/", 3'000));
    calls_.on_write = EIO;
    EXPECT_EQ(put("http://b/", 3'000), boost::system::errc::io_error);
    EXPECT_EQ(put("http://b/", 3'000), boost::system::errc::io_error);  // not even a header
    calls_.on_write = 0;
    EXPECT_FALSE(put("http://c/", 3'000));
    EXPECT_EQ(index_.size(), 2u);
    EXPECT_NE(index_["http://a/"].place.segment, index_["http://c/"].place.segment);
    expect_all_right();
}

TEST_F(SegmentLogTest, DropsUnreadableRecordsWithTheirSegment) {
    open(3);
    for (int i = 0; i < 20; ++i) {
        ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
        index_["http://a/" + std::to_string(i)].uses = 3;
    }
    calls_.on_read = EIO;
    boost::system::error_code error;
    for (int i = 0; i < 200; ++i) error = put("http://b/" + std::to_string(i), 3'000);
    EXPECT_FALSE(error);
    calls_.on_read = 0;
    EXPECT_LE(bytes_of_files(), 3 * kSegment);
    EXPECT_EQ(moved_, 0);
    // Its records were not reported one by one; a look-up finds no segment.
    std::erase_if(index_, [&](const auto& one) { return !log_->find(one.second.place.segment); });
    EXPECT_GE(index_.size(), 20u);
    expect_all_right();
}

TEST_F(SegmentLogTest, GoesOnWhereASignalCameBetween) {
    open(4);
    calls_.on_reserve = calls_.on_write = calls_.on_sync = calls_.on_read = EINTR;
    calls_.failures_left = 3;
    ASSERT_FALSE(put("http://a/1", 3'000));
    calls_.failures_left = 3;
    ASSERT_FALSE(log_->seal());
    EXPECT_EQ(calls_.failures_left, 0);
    calls_.failures_left = 3;
    expect_all_right();
}

// A reader of a footer takes none that is longer.
TEST_F(SegmentLogTest, EndsASegmentBeforeItsFooterIsTooLong) {
    segment_bytes_ = kMaxSegmentBytes;
    open(3);
    auto record = test::tombstone(RecordType::gone, 0);
    record.tags.resize(kMaxRecordTags);
    const auto most = kMaxFooterBytes / footer_bytes(record);
    RecordLocation last;
    for (std::uint64_t i = 0; i <= most; ++i) {
        record.seq = ++seq_;
        ASSERT_FALSE(log_->make_room(*sizes_of(record), footer_bytes(record)));
        last = log_->add(record, {});
        if (i % 16 == 0) ASSERT_FALSE(log_->flush());
    }
    ASSERT_FALSE(log_->flush());
    EXPECT_EQ(last.segment, 2u);
    const auto contents = read_contents(*log_->find(1));
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->sealed);
    EXPECT_EQ(contents->footer.entries.size(), most);
}

TEST_F(SegmentLogTest, WritesOnWhereTheSystemTookOnlyAPart) {
    open(4);
    calls_.writes_half = true;
    for (int i = 0; i < 10; ++i) ASSERT_FALSE(put("http://a/" + std::to_string(i), 3'000));
    expect_all_right();
}

}  // namespace segment_log_test
}  // namespace proxy
