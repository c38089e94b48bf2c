#include "proxy/disk/survey.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "tests/proxy/disk/disk_folder.hpp"

namespace proxy {
namespace survey_test {

using namespace std::chrono_literals;
using test::DiskFolder;
using testing::ElementsAre;
using testing::IsEmpty;

/// A minute before the response of test::response() expires.
const DiskTime kNow = test::response("", 0, "").stored;

Record stored_at(std::string_view uri, DiskTime time) {
    auto record = test::response(uri, 0, "");
    record.stored = time;
    record.expires = time + 60s;
    return record;
}

DiskSurvey look(const std::filesystem::path& place, SurveyOrder order = {}) {
    auto found = survey(place, order, kNow);
    EXPECT_TRUE(found) << found.error().message();
    return found ? std::move(*found) : DiskSurvey();
}

TEST(Survey, CountsAllRecords) {
    DiskFolder folder;
    folder.put(stored_at("http://a/old", kNow - 1h), "body");
    folder.put(stored_at("http://a/1", kNow - 3s), "first");
    folder.seal();
    folder.put(stored_at("http://a/1", kNow - 2s), "second");
    auto block = stored_at("http://a/large \"tag\" 0-9", kNow - 1s);
    block.type = RecordType::block;
    block.tags = {test::hash_of("http://a/large")};  // of its target: not the origin's
    folder.put(block, "0123456789");
    folder.leave();
    const auto found = look(folder.path());
    EXPECT_EQ(found.files.count, 2u);
    EXPECT_EQ(found.files.bytes, 2 * DiskFolder::kSegment);
    EXPECT_EQ(found.files.unsealed, 1u);
    EXPECT_EQ(found.records.responses, 2u);
    EXPECT_EQ(found.records.blocks, 1u);
    EXPECT_EQ(found.records.superseded, 1u);
    EXPECT_EQ(found.records.live_bytes, 3 * kDiskSector);
    EXPECT_EQ(found.records.expired, 1u);
    EXPECT_EQ(found.records.tagged, 2u);
    EXPECT_EQ(found.records.tags, 2u);
    EXPECT_EQ(found.records.oldest, kNow - 1h);
    EXPECT_EQ(found.records.median, kNow - 2s);
    EXPECT_EQ(found.records.newest, kNow - 1s);
    EXPECT_EQ(found.fault_count, 0u);
    EXPECT_EQ(found.files.damaged + found.files.unreadable, 0u);
}

TEST(Survey, CountsNoRecordFromBeforeAPurgeOfEverything) {
    DiskFolder folder;
    folder.put(stored_at("http://a/1", kNow), "x");
    folder.put(test::tombstone(RecordType::all_gone, 0));
    folder.put(stored_at("http://a/2", kNow), "x");
    folder.leave();
    const auto found = look(folder.path(), {.url = "http://a/1"});
    EXPECT_EQ(found.records.responses, 1u);
    EXPECT_EQ(found.records.purged, 1u);
    EXPECT_EQ(found.records.tombstones, 1u);
    ASSERT_EQ(found.finds.size(), 1u);
    EXPECT_FALSE(found.finds[0].current);
}

TEST(Survey, FindsAllVariantsOfAUrlAndItsBlocks) {
    DiskFolder folder;
    folder.put(stored_at("http://a/1", kNow - 2s), "first");
    auto plain = stored_at("http://a/1", kNow - 1s);
    plain.vary_names = plain.variant = {};
    const auto place = folder.put(plain, "plain");
    folder.put(stored_at("http://a/12", kNow), "another");
    auto block = stored_at("http://a/1 \"tag\" 0-9", kNow);
    block.type = RecordType::block;
    folder.put(block, "0123456789");
    folder.leave();
    const auto found = look(folder.path(), {.url = "http://a/1"});
    ASSERT_EQ(found.finds.size(), 2u);
    const auto& latest = found.finds[0];
    EXPECT_EQ(latest.file, folder.segment(1));
    EXPECT_EQ(latest.offset, place.sector * kDiskSector);
    EXPECT_EQ(latest.bytes, kDiskSector);
    EXPECT_EQ(latest.status_line, "HTTP/1.1 200 OK");
    EXPECT_EQ(latest.body_bytes, 5u);
    EXPECT_EQ(latest.stored, kNow - 1s);
    EXPECT_EQ(latest.expires, kNow + 59s);
    EXPECT_EQ(latest.vary, "");
    EXPECT_TRUE(latest.current);
    EXPECT_EQ(found.finds[1].vary, "accept-encoding");
    EXPECT_EQ(found.block_finds, 1u);
    EXPECT_EQ(found.block_bytes, 10u);
    EXPECT_THAT(look(folder.path(), {.url = "http://a/"}).finds, IsEmpty());
}

TEST(Survey, ReadsEverythingWhenAskedTo) {
    DiskFolder folder;
    const auto body = test::made_body(1, 10'000);
    folder.put(stored_at("http://a/good", kNow), body);
    const auto bad = folder.put(stored_at("http://a/bad", kNow), body);
    folder.seal();
    folder.leave();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reports;
    SurveyOrder order{.reads_all = true};
    order.progress = [&](auto done, auto all) { reports.emplace_back(done, all); };
    EXPECT_EQ(look(folder.path(), order).proved, 2u);
    ASSERT_FALSE(reports.empty());
    EXPECT_EQ(reports.back(), std::pair(DiskFolder::kSegment, DiskFolder::kSegment));
    folder.spoil(bad, 5'000);
    const auto found = look(folder.path(), order);
    EXPECT_EQ(found.proved, 1u);
    EXPECT_EQ(found.fault_count, 1u);
    ASSERT_EQ(found.faults.size(), 1u);
    EXPECT_EQ(found.faults[0].file, folder.segment(1));
    EXPECT_EQ(found.faults[0].offset, bad.sector * kDiskSector);
    EXPECT_EQ(found.faults[0].uri, "http://a/bad");
    EXPECT_EQ(look(folder.path()).fault_count, 0u);  // bodies are not read then
}

TEST(Survey, SaysWhichFilesAreDamaged) {
    DiskFolder folder;
    const auto place = folder.put(stored_at("http://a/1", kNow), "x");
    folder.put(stored_at("http://a/2", kNow), "x");
    folder.leave();
    folder.spoil(place, 70);
    std::ofstream(folder.segment(2)) << "text";
    std::ofstream(folder.segment(3)) << std::string(kDiskSector, '\0');
    const auto found = look(folder.path());
    EXPECT_EQ(found.records.responses, 1u);
    EXPECT_EQ(found.files.damaged, 1u);
    EXPECT_EQ(found.files.unreadable, 1u);
    EXPECT_EQ(found.files.empty, 1u);
    EXPECT_EQ(found.fault_count, 2u);
}

TEST(Survey, NeedsAnUnusedDirectory) {
    DiskFolder folder;
    folder.put(stored_at("http://a/1", kNow), "x");
    folder.seal();
    const auto used = survey(folder.path(), {}, kNow);
    ASSERT_FALSE(used);
    EXPECT_EQ(used.error(), DiskError::in_use);
    EXPECT_EQ(look(folder.segment(1)).records.responses, 1u);  // one file may be looked at
    folder.leave();
    EXPECT_EQ(look(folder.path()).records.responses, 1u);
    const test::TemporaryDirectory empty;
    EXPECT_EQ(survey(empty.path(), {}, kNow).error(), DiskError::foreign);
    EXPECT_EQ(survey(empty.path() / "none", {}, kNow).error(),
              boost::system::errc::no_such_file_or_directory);
    EXPECT_TRUE(std::filesystem::is_empty(empty.path()));
}

TEST(Survey, LeavesTheDirectoryUnchanged) {
    DiskFolder folder;
    const auto place = folder.put(stored_at("http://a/1", kNow), "x");
    folder.seal();
    folder.put(stored_at("http://a/2", kNow), "x");
    folder.leave();
    folder.spoil(place, 70);
    std::ofstream(folder.segment(9)) << "text";
    const auto before = folder.all();
    look(folder.path(), {.url = "http://a/1", .reads_all = true});
    EXPECT_EQ(folder.all(), before);
}

TEST(ReadOnlyCalls, RefuseAllChanges) {
    const test::TemporaryDirectory folder;
    ReadOnlyCalls calls;
    const auto file = (folder.path() / "file").string();
    EXPECT_EQ(calls.open(file.c_str(), O_RDWR | O_CREAT, 0600), -1);
    EXPECT_EQ(errno, ENOENT);
    std::ofstream(file) << "text";
    const auto fd = calls.open(file.c_str(), O_RDWR | O_TRUNC, 0600);
    ASSERT_GE(fd, 0);
    const iovec part = test::part("x");
    EXPECT_EQ(calls.write(fd, {&part, 1}, 0), -1);
    EXPECT_EQ(errno, EROFS);
    EXPECT_EQ(calls.reserve(fd, 100), -1);
    EXPECT_EQ(calls.sync(fd), -1);
    EXPECT_EQ(calls.remove(file.c_str()), -1);
    calls.close(fd);
    EXPECT_EQ(std::filesystem::file_size(file), 4u);
}

}  // namespace survey_test
}  // namespace proxy
