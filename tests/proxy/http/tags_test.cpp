#include "proxy/http/tags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "summary/sizing/prefix_tag.hpp"

namespace proxy {
namespace tags_test {

constexpr std::string_view kOrigin = "http://h.test";

summary::KeyHasher hasher() {
    std::array<std::byte, summary::KeyHasher::kSecretBytes> secret{};
    for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
    return summary::KeyHasher(secret);
}

std::vector<summary::KeyHash> hashes(std::initializer_list<std::string_view> texts) {
    std::vector<summary::KeyHash> result;
    for (const auto text : texts) result.push_back(hasher()(text));
    std::sort(result.begin(), result.end(), precedes);
    return result;
}

TEST(Tags, OfSurrogateKeyAreApartByBlanksAndOnceEach) {
    const std::vector<Field> fields{{{}, "Surrogate-Key", "news  front\tnews"},
                                    {{}, "surrogate-key", "more"}};
    EXPECT_EQ(tags_of(fields, kOrigin, hasher()),
              hashes({"surrogate-key news", "surrogate-key front", "surrogate-key more"}));
    EXPECT_EQ(surrogate_tag("news", hasher()), hasher()("surrogate-key news"));
}

TEST(Tags, OfCacheGroupsAreStringsOfOneOrigin) {  // RFC 9875 §2
    const std::vector<Field> fields{{{}, "Cache-Groups", R"("a b", "q\"\\", token, 4)"},
                                    {{}, "Cache-Groups", R"("c";x=1)"}};
    EXPECT_EQ(tags_of(fields, kOrigin, hasher()),
              hashes({"cache-group http://h.test a b", "cache-group http://h.test q\"\\",
                      "cache-group http://h.test c"}));
    EXPECT_NE(tags_of(fields, "http://other.test", hasher()), tags_of(fields, kOrigin, hasher()));
}

TEST(Tags, OfAMalformedListAreNone) {  // RFC 9651 §4.2
    const std::vector<Field> fields{{{}, "Cache-Groups", R"("a", "b)"}};
    EXPECT_EQ(tags_of(fields, kOrigin, hasher()), hashes({}));
}

TEST(Prefixes, EndWithTheSlashesOfThePath) {
    using Prefixes = std::vector<std::string_view>;
    EXPECT_EQ(prefixes_of("http://h/"), Prefixes{"http://h/"});
    EXPECT_EQ(prefixes_of("http://h:8/a//b?c/d"),
              (Prefixes{"http://h:8/", "http://h:8/a/", "http://h:8/a//"}));
    EXPECT_EQ(prefixes_of("http://h/a/b \"e/tag\" form"), (Prefixes{"http://h/", "http://h/a/"}))
        << "of a block";
    EXPECT_EQ(prefixes_of("http://h*"), Prefixes{});
    EXPECT_EQ(prefixes_of("u"), Prefixes{});
    EXPECT_EQ(prefixes_of("http://h" + std::string(1000, '/')).size(), kMaxUriPrefixes);
}

TEST(Prefixes, HaveTagsOfTheirOwn) {
    const auto hash = [](std::string_view text) { return summary::KeyHash{text.size(), 7}; };
    const auto tag = prefix_tag("http://h/", hash);
    EXPECT_TRUE(summary::is_prefix_tag(tag));
    EXPECT_FALSE(summary::is_prefix_tag(hash("http://h/")));
    EXPECT_EQ(tag.high, 7u);
    EXPECT_EQ(prefix_tags_of("http://h/a", hash), std::vector{tag});
}

TEST(Tags, AreBounded) {
    std::string many;
    for (std::size_t i = 0; i < kMaxTags; ++i) many += std::to_string(i) + " ";
    std::vector<Field> fields{{{}, "Surrogate-Key", many}};
    const auto all = tags_of(fields, kOrigin, hasher());
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), kMaxTags);
    fields.push_back({{}, "Surrogate-Key", "more"});
    EXPECT_EQ(tags_of(fields, kOrigin, hasher()), std::nullopt) << "a purge could miss it";
}

TEST(Tags, ToInvalidateComeFromAFieldOfTheirOwn) {  // RFC 9875 §3
    const std::vector<Field> fields{{{}, "Cache-Group-Invalidation", R"("a", "b")"},
                                    {{}, "Cache-Groups", R"("c")"}};
    auto groups = invalidated_groups(fields, kOrigin, hasher());
    std::sort(groups.begin(), groups.end(), precedes);
    EXPECT_EQ(groups, hashes({"cache-group http://h.test a", "cache-group http://h.test b"}));
}

}  // namespace tags_test
}  // namespace proxy
