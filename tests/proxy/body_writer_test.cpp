#include "proxy/cache/body_writer.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace proxy {
namespace {

using namespace std::chrono_literals;

constexpr Store::Clock::time_point kNow{1000s};
constexpr std::string_view kUri = "http://h/";
constexpr summary::KeyHash kHash{1, 2};

/// One object on its way into a store of 100,000 bytes, of which it may have 50,000.
class BodyWriterTest : public ::testing::Test {
protected:
    static Fill::Answer answer(bool shared = true) {
        Fill::Answer made;
        made.response = std::make_shared<StoredResponse>();
        made.shared = shared;
        return made;
    }
    /// As long as room is made for it.
    bool write(std::string_view bytes) {
        while (!bytes.empty()) {
            if (writer.room() == 0 && !writer.grow(0, kNow)) return false;
            const auto n = std::min(bytes.size(), writer.room());
            writer.append(bytes.substr(0, n));
            bytes.remove_prefix(n);
        }
        return true;
    }
    std::shared_ptr<const StoredResponse> stored() {
        return store.find(kHash, kUri, {}, kNow).response;
    }

    boost::asio::io_context io;
    Store store{100'000, [](const summary::Key&, bool) {}};
    std::shared_ptr<Fill> fill =
        std::make_shared<Fill>(std::make_shared<Wakeup>(io.get_executor()), 1000);
    Claim claim{store, kHash, kUri, fill};
    BodyWriter writer{store, claim, *fill, 50'000};
};

TEST_F(BodyWriterTest, StoresWhatIsComplete) {
    claim.take({});
    writer.begin(answer());
    EXPECT_TRUE(write(std::string(10'000, 'x')));
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::store);
    ASSERT_NE(stored(), nullptr);
    EXPECT_EQ(stored()->body_bytes(), 10'000u);
    EXPECT_EQ(fill->state().phase, Fill::Phase::complete);
    EXPECT_TRUE(fill->state().answer.shared);
}

TEST_F(BodyWriterTest, ChargesNoMoreThanIsStillToCome) {
    writer.begin(answer());
    ASSERT_TRUE(writer.grow(300, kNow));
    EXPECT_EQ(writer.room(), 300u);
    EXPECT_EQ(store.stats().memory_bytes, 300u);
}

TEST_F(BodyWriterTest, SaysInvalidatedAndNotStoreOfWhatTheStoreDidNotTake) {
    claim.take({});
    writer.begin(answer());
    write("body");
    store.invalidate(kHash, kNow);
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::invalidated);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_FALSE(fill->state().answer.shared) << "nor do its readers say that it is stored";
    EXPECT_EQ(fill->state().phase, Fill::Phase::complete);
}

TEST_F(BodyWriterTest, StopsStoringWhatProvesTooLarge) {
    claim.take({});
    writer.begin(answer());
    EXPECT_FALSE(write(std::string(80'000, 'x')));
    EXPECT_EQ(writer.verdict(), StorageVerdict::too_large);
    EXPECT_FALSE(writer.storing());
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::too_large);
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(BodyWriterTest, StopsStoringWhereThereIsNoRoom) {
    const auto all = store.reserve(99'000, kNow);
    ASSERT_TRUE(all);
    writer.begin(answer());
    EXPECT_FALSE(write(std::string(10'000, 'x')));
    EXPECT_EQ(writer.verdict(), StorageVerdict::no_room);
}

TEST_F(BodyWriterTest, GoesOnWithoutTheStoreForWhatIsNotShared) {
    claim.take({});
    auto passed_on = answer(false);
    passed_on.verdict = StorageVerdict::is_private;
    writer.begin(std::move(passed_on));
    EXPECT_FALSE(writer.grow(0, kNow));
    EXPECT_EQ(writer.finish(kNow), StorageVerdict::is_private);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(store.find(kHash, kUri, {}, kNow).fill, nullptr) << "the claim has ended";
}

TEST_F(BodyWriterTest, KeepsWhatNobodyWaitsForAsLongAsItMayBeStored) {
    writer.begin(answer());
    writer.keep(std::string(20'000, 'x'), kNow);
    writer.keep(std::string(20'000, 'x'), kNow);
    EXPECT_EQ(fill->received(), 40'000u);
    writer.keep(std::string(40'000, 'x'), kNow);
    EXPECT_FALSE(writer.storing());
    EXPECT_EQ(writer.verdict(), StorageVerdict::too_large);
}

}  // namespace
}  // namespace proxy
