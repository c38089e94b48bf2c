#include "proxy/storage/stored_record.hpp"

#include <gtest/gtest.h>

#include "proxy/storage/announceable.hpp"

namespace proxy {
namespace stored_record_test {

using namespace std::chrono_literals;

/// The response as the disk gives it back.
std::shared_ptr<StoredResponse> kept(StoredMetadata metadata) {
    metadata.status = 200;
    metadata.arrival.wall =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    metadata.head_fields = "ETag: \"1\"\r\n";
    metadata.freshness.lifetime = StoredSeconds(600);
    metadata.freshness.source = LifetimeSource::rule;
    const auto response =
        std::make_shared<StoredResponse>(std::move(metadata), std::make_shared<Body>());
    const auto write = write_of(response, "http://h/a");
    LoadedRecord loaded;
    loaded.record = write.record;
    return response_of(loaded, {std::chrono::steady_clock::now(), std::chrono::system_clock::now()},
                       false);
}

TEST(StoredRecord, KeepsTheMarkOfTheRuleThatJudged) {
    StoredMetadata metadata;
    metadata.rule_mark = 0x12345678;
    metadata.by_rule_alone = true;
    const auto back = kept(metadata);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->rule_mark, 0x12345678u);
    EXPECT_TRUE(back->by_rule_alone);
    EXPECT_EQ(back->freshness.source, LifetimeSource::rule);
    EXPECT_FALSE(back->freshness.each_client);
    EXPECT_EQ(kept({})->rule_mark, 0u);
}

TEST(StoredRecord, KeepsTheServerOfAGroup) {
    StoredMetadata metadata;
    metadata.server = 0x87654321;
    const auto back = kept(metadata);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->server, 0x87654321u);
    EXPECT_EQ(back->rule_mark, 0u);
    metadata.rule_mark = 5;
    metadata.blocks = Blocks{100, 10};
    const auto both = kept(metadata);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->server, 0x87654321u);
    EXPECT_EQ(both->rule_mark, 5u);
    EXPECT_EQ(kept({})->server, 0u);
}

TEST(StoredRecord, ThatTheOriginConfirmsForEachClientStaysAnnounceable) {
    StoredMetadata metadata;
    metadata.rule_mark = 1;
    metadata.freshness.always_validate = metadata.freshness.each_client = true;
    const auto back = kept(metadata);
    ASSERT_TRUE(back);
    EXPECT_TRUE(back->freshness.always_validate && back->freshness.each_client);
    EXPECT_TRUE(is_announceable(*back, std::chrono::steady_clock::now()));
    metadata.freshness.each_client = false;
    EXPECT_FALSE(is_announceable(*kept(metadata), std::chrono::steady_clock::now()));
}

}  // namespace stored_record_test
}  // namespace proxy
