#include "proxy/storage/memory_shelf.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proxy/http/vary.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace memory_shelf_test {

using test::hash;
using test::Head;

/// Responses of one shard, without anything around it.
class MemoryShelfTest : public ::testing::Test {
protected:
    MemoryShelf::Entry& put(std::string_view uri, std::string_view language = "",
                            std::vector<summary::KeyHash> tags = {}) {
        auto response = std::make_shared<StoredResponse>();
        if (!language.empty()) {
            response->vary_names = "accept-language";
            append_variant(response->variant, response->vary_names,
                           Head("Accept-Language: " + std::string(language)));
        }
        response->tags = std::move(tags);
        response->body->add_block(1000, {});
        response->body->append(std::string(1000, 'x'));
        auto& entry = *shelf.entry_for(hash(uri), uri);
        entry.variants.emplace_back(std::move(response));
        shelf.weigh(entry);
        return entry;
    }
    static auto everything() {
        return [](const MemoryShelf::Variant&) { return true; };
    }

    MemoryShelf shelf;
};

TEST_F(MemoryShelfTest, LeavesItsResponsesToTheEndOfTheProcess) {
    MemoryShelf ending;
    auto response = std::make_shared<StoredResponse>();
    const std::weak_ptr<const StoredResponse> seen(response);
    ending.entry_for(hash("u"), "u")->variants.emplace_back(std::move(response));
    ending.leave();
    EXPECT_EQ(ending.objects(), 0u);
    EXPECT_FALSE(seen.expired());
}

TEST_F(MemoryShelfTest, GivesTheNewestVariantThatTheRequestSelects) {
    auto& entry = put("u", "de");
    put("u", "en");
    const auto* const german = shelf.select(entry, Head("Accept-Language: de"));
    ASSERT_NE(german, nullptr);
    EXPECT_EQ(german->response, entry.variants.front().response);
    EXPECT_EQ(shelf.select(entry, Head("Accept-Language: fr")), nullptr);
    put("u");
    EXPECT_EQ(shelf.select(entry, Head("Accept-Language: de")), &entry.variants.back());
    EXPECT_EQ(shelf.objects(), 1u) << "they are of one key";
    EXPECT_EQ(newest_of(&entry), entry.variants.back().response);
    EXPECT_EQ(newest_of(nullptr), nullptr);
}

TEST_F(MemoryShelfTest, KeepsTheEntryOfTheFirstUriOfAHash) {
    put("u");
    EXPECT_EQ(shelf.entry_for(hash("u"), "v"), nullptr);
    EXPECT_NE(shelf.entry_for(hash("u"), "u"), nullptr);
}

TEST_F(MemoryShelfTest, WeighsAnEntryByItsVariants) {
    auto& entry = put("u", "de");
    EXPECT_EQ(shelf.evictable_bytes(), 1000u);
    put("u", "en");
    EXPECT_EQ(shelf.evictable_bytes(), 2000u);
    DroppedResponses dropped;
    const auto first = entry.variants.front().response;
    EXPECT_TRUE(shelf.drop_if(
        entry, [&](const auto& variant) { return variant.response == first; }, dropped));
    EXPECT_EQ(dropped.size(), 1u);
    EXPECT_EQ(shelf.evictable_bytes(), 1000u);
    EXPECT_FALSE(shelf.drop_if(
        entry, [&](const auto& variant) { return variant.response == first; }, dropped));
    shelf.drop_if(entry, everything(), dropped);
    shelf.erase(entry);
    EXPECT_EQ(shelf.evictable_bytes(), 0u);
    EXPECT_EQ(shelf.find(hash("u")), nullptr);
}

TEST_F(MemoryShelfTest, FindsEntriesByTheTagsOfTheirPresentVariants) {
    auto& entry = put("u", "de", {hash("a")});
    put("u", "en", {hash("b")});
    EXPECT_EQ(shelf.first_tagged(hash("a")), &entry);
    DroppedResponses dropped;
    const auto german = entry.variants.front().response;
    shelf.drop_if(
        entry, [&](const auto& variant) { return variant.response == german; }, dropped);
    EXPECT_EQ(shelf.first_tagged(hash("a")), nullptr);
    EXPECT_EQ(shelf.first_tagged(hash("b")), &entry);
    EXPECT_EQ(shelf.take_all().size(), 1u);
    EXPECT_EQ(shelf.first_tagged(hash("b")), nullptr);
    EXPECT_EQ(shelf.evictable_bytes(), 0u);
}

TEST_F(MemoryShelfTest, PinsAnEntryUntilItsReadersAreDone) {
    auto& entry = put("u");
    EXPECT_FALSE(MemoryShelf::in_use(entry));
    auto body = entry.variants.front().response->body;
    EXPECT_TRUE(MemoryShelf::in_use(entry)) << "a reader may have the body alone";
    shelf.pin(entry);
    shelf.unpin_unused();
    EXPECT_EQ(shelf.pop_victim(std::nullopt), nullptr);
    EXPECT_EQ(shelf.evictable_bytes(), 0u);
    body.reset();
    shelf.unpin_unused();
    EXPECT_EQ(shelf.evictable_bytes(), 1000u);
    EXPECT_EQ(shelf.pop_victim(std::nullopt), &entry);
    EXPECT_EQ(shelf.pop_victim(std::nullopt), nullptr);
}

TEST_F(MemoryShelfTest, DisplacesNoVariantThatTheDiskIsAboutToWrite) {
    auto& entry = put("u", "de");
    put("u", "en");
    entry.variants[0].uses = 0;
    entry.variants[1].uses = 3;
    entry.variants[0].disk.writing = entry.variants[0].response.get();
    EXPECT_EQ(MemoryShelf::next_to_displace(entry), 1u);
    entry.variants[1].disk.writing = entry.variants[1].response.get();
    EXPECT_EQ(MemoryShelf::next_to_displace(entry), std::nullopt);
}

}  // namespace memory_shelf_test
}  // namespace proxy
