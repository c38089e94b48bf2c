#include "proxy/fetch/body_writer.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace proxy {
namespace body_writer_test {

using namespace std::chrono_literals;

constexpr Store::Clock::time_point kNow{1000s};
constexpr std::string_view kUri = "http://h/";
constexpr summary::KeyHash kHash{1, 2};
constexpr std::uint64_t kWindow = 40'000;

/// One object on its way into a store of 100,000 bytes, of which it may have 50,000.
class BodyWriterTest : public ::testing::Test {
protected:
    static constexpr auto kMade = BodyWriter::Room::made;

    void begin(Sharing sharing = Sharing::stored, StorageVerdict verdict = StorageVerdict::store) {
        Fill::Incoming incoming;
        incoming.response = std::make_shared<StoredResponse>();
        incoming.verdict = verdict;
        writer.begin(std::move(incoming), sharing, kNow);
    }
    /// As long as room is made for it; how much that was.
    std::size_t write(std::string_view bytes) {
        std::size_t written = 0;
        while (written < bytes.size()) {
            if (writer.room() == 0 && writer.make_room(0, kNow) != kMade) break;
            const auto piece = bytes.substr(written, writer.room());
            writer.append(piece);
            written += piece.size();
        }
        return written;
    }
    Fill::Reader reader(bool leader = true) {
        return {fill, std::make_shared<base::Wakeup>(io.get_executor()), leader};
    }
    Store::Found found() { return store.find(kHash, kUri, {}, kNow); }
    std::shared_ptr<const StoredResponse> stored() { return found().response; }

    boost::asio::io_context io;
    test::IgnoredEvents events;
    Store store{100'000, test::hasher(), events};
    base::MemoryBudget windows{1'000'000};
    std::shared_ptr<Fill> fill =
        std::make_shared<Fill>(std::make_shared<base::Wakeup>(io.get_executor()), kWindow);
    FillLease lease{store, kHash, kUri, fill};
    BodyWriter writer{store, windows, lease, *fill, 50'000};
};

TEST_F(BodyWriterTest, StoresWhatIsComplete) {
    lease.take({});
    begin();
    EXPECT_EQ(write(std::string(10'000, 'x')), 10'000u);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::store);
    ASSERT_NE(stored(), nullptr);
    EXPECT_EQ(stored()->body_bytes(), 10'000u);
    EXPECT_EQ(fill->state().phase, Fill::Phase::complete);
    EXPECT_TRUE(fill->state().incoming.shared);
}

TEST_F(BodyWriterTest, ChargesNoMoreThanIsStillToCome) {
    begin();
    ASSERT_EQ(writer.make_room(300, kNow), kMade);
    EXPECT_EQ(writer.room(), 300u);
    EXPECT_EQ(store.stats().memory_bytes, 300u);
}

TEST_F(BodyWriterTest, SaysInvalidatedAndNotStoreOfWhatTheStoreDidNotTake) {
    lease.take({});
    begin();
    write("body");
    store.invalidate(kHash, kNow);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::invalidated);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_FALSE(fill->state().incoming.shared) << "nor do its readers say that it is stored";
    EXPECT_EQ(fill->state().phase, Fill::Phase::complete);
}

TEST_F(BodyWriterTest, StopsStoringWhatProvesTooLarge) {
    lease.take({});
    begin();
    EXPECT_LT(write(std::string(80'000, 'x')), 80'000u);
    EXPECT_EQ(writer.verdict(), StorageVerdict::too_large);
    EXPECT_FALSE(writer.storing());
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::too_large);
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(BodyWriterTest, StopsStoringWhereThereIsNoRoom) {
    const auto all = store.reserve(99'000, kNow);
    ASSERT_TRUE(all);
    begin();
    EXPECT_EQ(write(std::string(10'000, 'x')), 0u) << "as nobody reads it";
    EXPECT_EQ(writer.verdict(), StorageVerdict::no_room);
}

TEST_F(BodyWriterTest, GoesOnWithoutTheStoreForWhatIsNotShared) {
    lease.take({});
    const auto leader = reader();
    begin(Sharing::passed_on, StorageVerdict::private_);
    EXPECT_EQ(write("body"), 4u);
    EXPECT_EQ(store.stats().memory_bytes, 0u);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::private_);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(found().fill, nullptr) << "the claim has ended";
}

TEST_F(BodyWriterTest, ReleasesAllButTheLeaderFromWhatIsNotShared) {
    const auto leader = reader();
    const auto follower = reader(false);
    begin(Sharing::passed_on, StorageVerdict::private_);
    EXPECT_FALSE(leader.state().released);
    EXPECT_TRUE(follower.state().released);
}

TEST_F(BodyWriterTest, LetsNobodyWaitForAnAnswerThatIsPassedOn) {  // hit-for-miss
    lease.take({});
    begin(Sharing::passed_on, StorageVerdict::private_);
    EXPECT_TRUE(found().unshareable);
    EXPECT_EQ(found().fill, nullptr);
    EXPECT_FALSE(store.find(kHash, kUri, {}, kNow + PendingResponses::kHitForMiss).unshareable)
        << "for a while";
}

TEST_F(BodyWriterTest, LetsThemWaitAgainSoonAfterTroubleThatPasses) {
    lease.take({});
    begin(Sharing::passed_on, StorageVerdict::no_room);
    EXPECT_TRUE(found().unshareable);
    const auto later = kNow + PendingResponses::kHitForMissInTrouble;
    EXPECT_FALSE(store.find(kHash, kUri, {}, later).unshareable);
}

TEST_F(BodyWriterTest, LetsThemWaitAgainOnceOneResponseIsForAll) {
    begin(Sharing::passed_on, StorageVerdict::private_);
    ASSERT_TRUE(found().unshareable);
    FillLease alone(store, kHash, kUri, fill);
    BodyWriter next(store, windows, alone, *fill, 50'000);
    Fill::Incoming incoming;
    incoming.response = std::make_shared<StoredResponse>();
    next.begin(std::move(incoming), Sharing::stored, kNow);
    EXPECT_FALSE(found().unshareable) << "however long its body takes";
}

TEST_F(BodyWriterTest, GivesAResponseThatIsTooOldToThoseWhoWaitedForIt) {
    lease.take({});
    const auto leader = reader();
    const auto follower = reader(false);
    begin(Sharing::awaited, StorageVerdict::not_reusable);
    EXPECT_FALSE(follower.state().released);
    EXPECT_TRUE(reader(false).state().released) << "who comes later";
    EXPECT_EQ(found().fill, nullptr);
    EXPECT_FALSE(found().unshareable) << "and the next fetch is for many again";
    EXPECT_EQ(write("body"), 4u);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::not_reusable);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(store.stats().memory_bytes, 0u);
}

TEST_F(BodyWriterTest, SaysNothingAgainstWaitingForACopyThatThisNodeDoesNotKeep) {
    lease.take({});
    begin(Sharing::not_copied);
    EXPECT_FALSE(found().unshareable);
    writer.finish(kNow);
    EXPECT_FALSE(found().unshareable);
}

TEST_F(BodyWriterTest, LetsOthersBringWhatIsNotCopiedThisOnce) {
    lease.take({});
    EXPECT_NE(found().fill, nullptr);
    begin(Sharing::not_copied_once);
    EXPECT_EQ(found().fill, nullptr) << "who comes now fetches it";
    EXPECT_FALSE(found().unshareable) << "and others may wait for that";
}

TEST_F(BodyWriterTest, LetsNobodyWaitForWhatProvesTooLarge) {
    lease.take({});
    const auto leader = reader();
    begin();
    write(std::string(50'000, 'x'));
    EXPECT_FALSE(found().unshareable);
    write(std::string(30'000, 'x'));
    EXPECT_FALSE(writer.storing());
    EXPECT_TRUE(found().unshareable);
    EXPECT_EQ(found().fill, nullptr);
}

TEST_F(BodyWriterTest, WaitsForItsReadersWhenTheWindowIsFull) {
    auto leader = reader();
    begin(Sharing::passed_on);
    const auto written = write(std::string(100'000, 'x'));
    EXPECT_GE(written, kWindow);
    EXPECT_LT(written, kWindow + kBodyBlockBytes);
    EXPECT_EQ(writer.make_room(0, kNow), BodyWriter::Room::after_readers);
    leader.consume(written / 2);
    EXPECT_EQ(writer.make_room(0, kNow), kMade);
}

TEST_F(BodyWriterTest, EndsInTheWindowWhenNobodyReadsAnyMore) {
    auto leader = std::make_unique<Fill::Reader>(
        fill, std::make_shared<base::Wakeup>(io.get_executor()), true);
    begin(Sharing::passed_on);
    EXPECT_EQ(writer.make_room(0, kNow), kMade);
    leader.reset();
    EXPECT_EQ(writer.make_room(0, kNow), BodyWriter::Room::unwanted);
}

TEST_F(BodyWriterTest, PaysForTheWindowAndNoMoreThanIsStillToCome) {
    const auto leader = reader();
    begin(Sharing::passed_on);
    ASSERT_EQ(writer.make_room(300, kNow), kMade);
    EXPECT_EQ(writer.room(), 300u);
    EXPECT_EQ(windows.free(), 1'000'000u - 300u);
}

TEST_F(BodyWriterTest, TakesOneSmallStepAtATimeBesideWindowsThatAreAllInUse) {
    auto leader = reader();
    begin(Sharing::passed_on);
    ASSERT_TRUE(windows.take(1'000'000));
    ASSERT_EQ(writer.make_room(0, kNow), kMade);
    const auto step = writer.room();
    EXPECT_LE(step, kFirstBlockBytes);
    writer.append(std::string(step, 'x'));
    EXPECT_EQ(writer.make_room(0, kNow), BodyWriter::Room::after_readers);
    leader.consume(step);
    EXPECT_EQ(writer.make_room(0, kNow), kMade);
}

TEST_F(BodyWriterTest, LeavesNobodyWaitingWhenItFails) {
    lease.take({});
    const auto leader = reader();
    begin();
    write("bo");
    writer.fail({FetchError::reset, 200}, kNow);
    EXPECT_EQ(leader.state().phase, Fill::Phase::failed);
    EXPECT_EQ(leader.state().error, FetchError::reset);
    EXPECT_EQ(leader.state().incoming.upstream_status, 200u);
    EXPECT_EQ(found().fill, nullptr);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_FALSE(found().unshareable);
}

TEST_F(BodyWriterTest, FailsSoThatTheNextDoesNotWaitEither) {
    lease.take({});
    writer.fail({FetchError::not_in_parts, 200, true}, kNow);
    EXPECT_TRUE(found().unshareable);
}

TEST_F(BodyWriterTest, KeepsABodyWithoutReadersAsLongAsItMayBeStored) {
    begin();
    writer.append_if_storing(std::string(20'000, 'x'), kNow);
    writer.append_if_storing(std::string(20'000, 'x'), kNow);
    EXPECT_EQ(fill->received(), 40'000u);
    writer.append_if_storing(std::string(40'000, 'x'), kNow);
    EXPECT_FALSE(writer.storing());
    EXPECT_EQ(writer.verdict(), StorageVerdict::too_large);
}

}  // namespace body_writer_test
}  // namespace proxy
