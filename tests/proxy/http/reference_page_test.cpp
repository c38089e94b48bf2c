// The pages of docs/reference/ explain every word that users meet.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "proxy/http/outcome.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/fill.hpp"
#include "tests/source_root.hpp"

namespace proxy {
namespace reference_page_test {

std::string reference() {
    const auto pages = tests::source_root(__FILE__) / "docs/reference";
    std::ostringstream text;
    for (const auto& page : std::filesystem::directory_iterator(pages))
        if (page.is_regular_file()) text << std::ifstream(page.path()).rdbuf();
    return text.str();
}

bool explains(std::string_view word) {
    static const auto text = reference();
    return text.find('`' + std::string(word) + '`') != std::string::npos;
}

/// All words from that of number `first` on.
template <class Enum>
auto words(std::size_t first = 0) {
    const auto& all = kWordsOf<Enum>;
    return std::vector<std::string_view>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                         all.end());
}

TEST(ReferencePage, ExplainsEveryWordOfTheAccessLog) {
    for (const auto word : words<Outcome>()) EXPECT_TRUE(explains(word)) << word;
    for (const auto word : words<CacheResult>()) EXPECT_TRUE(explains(word)) << word;
    for (const auto word : words<Source>()) EXPECT_TRUE(explains(word)) << word;
    for (const auto word : words<PeerVerdict>(1)) EXPECT_TRUE(explains(word)) << word;
    for (const auto word : words<Refusal>()) EXPECT_TRUE(explains(word)) << word;
}

TEST(ReferencePage, ExplainsWhyAnAnswerIsNotStored) {
    for (const auto word : words<StorageVerdict>(1)) EXPECT_TRUE(explains(word)) << word;
}

TEST(ReferencePage, ExplainsWhyThereIsNoAnswer) {
    EXPECT_GE(words<FetchError>(1).size(), 16u);
    for (const auto word : words<FetchError>(1)) EXPECT_TRUE(explains(word)) << word;
}

}  // namespace reference_page_test
}  // namespace proxy
