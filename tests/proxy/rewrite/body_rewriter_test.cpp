#include "proxy/rewrite/body_rewriter.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {
namespace body_rewriter_test {

constexpr std::uint64_t kMuch = 1u << 30;

std::shared_ptr<const MirrorTable> table() {
    auto fault = PrefixFault::no_url;
    Mirror made;
    made.here = parse_url_prefix("http://mirror.test/pypi", fault).value();
    made.origin = parse_url_prefix("https://pypi.test", fault).value();
    made.links = true;
    return std::make_shared<const MirrorTable>(std::vector<Mirror>{made});
}

BodyRewriter rewriter(bool gzip, std::uint64_t up_to) {
    const auto all = table();
    return {LinkReplacer(all, all->all().front(), LinkSyntax::html, Scheme::https, "pypi.test"),
            gzip, up_to};
}

/// Nothing: the body was refused.
std::optional<std::string> rewritten(std::string_view body, bool gzip, std::size_t piece,
                                     std::uint64_t up_to = kMuch) {
    auto made = rewriter(gzip, up_to);
    std::string out;
    while (!made.done()) {
        auto part = body.substr(0, piece);
        body.remove_prefix(part.size());
        do {
            const auto bytes = made.step(part, body.empty());
            if (!bytes) return std::nullopt;
            out.append(*bytes);
        } while (!part.empty() || (body.empty() && !made.done()));
    }
    return out;
}

std::string gzipped(std::string_view text) {
    std::string out;
    EXPECT_TRUE(GzipEncoder().encode(text, true, out));
    return out;
}

std::string gunzipped(std::string_view coded) {
    GzipDecoder decoder;
    std::string out;
    for (std::size_t before = 1; before != out.size();) {
        before = out.size();
        EXPECT_TRUE(decoder.decode(coded, 64 * 1024, out));
    }
    EXPECT_TRUE(decoder.ended());
    return out;
}

std::string page(std::size_t links) {
    std::string out = "<html>\n";
    for (std::size_t i = 0; i < links; ++i)
        out.append("<a href=\"https://pypi.test/simple/")
            .append(std::to_string(i))
            .append("/\">\n");
    return out.append("</html>");
}

std::string mirrored_page(std::size_t links) {
    auto out = page(links);
    const std::string from = "https://pypi.test/", to = "http://mirror.test/pypi/";
    for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size()))
        out.replace(at, from.size(), to);
    return out;
}

TEST(BodyRewriter, RewritesAPlainBody) {
    for (const std::size_t piece : {1u, 7u, 1000u, 65536u, 1u << 20})
        EXPECT_EQ(rewritten(page(5000), false, piece), mirrored_page(5000)) << piece;
    EXPECT_EQ(rewritten("", false, 10), "");
}

TEST(BodyRewriter, UndoesGzipAndAppliesItAgain) {
    for (const std::size_t piece : {1u, 7u, 1000u, 65536u, 1u << 20}) {
        const auto coded = rewritten(gzipped(page(5000)), true, piece);
        ASSERT_TRUE(coded) << piece;
        EXPECT_EQ(gunzipped(*coded), mirrored_page(5000)) << piece;
    }
}

TEST(BodyRewriter, TakesSeveralMembersForOneBody) {
    const auto text = page(100);
    const auto coded =
        gzipped(text.substr(0, 1000)) + gzipped(text.substr(1000)) + std::string(20, '\0');
    for (const std::size_t piece : {1u, 50u, 100000u})
        EXPECT_EQ(gunzipped(rewritten(coded, true, piece).value_or("")), mirrored_page(100))
            << piece;
}

TEST(BodyRewriter, PassesABodyThatIsNoGzip) {
    for (const std::size_t piece : {1u, 2u, 3u, 100000u}) {
        EXPECT_EQ(rewritten(page(3), true, piece), page(3)) << piece;
        EXPECT_EQ(rewritten("", true, piece), "");
        EXPECT_EQ(rewritten("x", true, piece), "x");
    }
}

TEST(BodyRewriter, RefusesBrokenGzip) {
    const auto coded = gzipped(page(1000));
    EXPECT_EQ(rewritten(coded.substr(0, coded.size() - 1), true, 100), std::nullopt);
    EXPECT_EQ(rewritten(coded.substr(0, 5), true, 100), std::nullopt);
    auto changed = coded;
    changed[coded.size() - 6] ^= 1;  // the checksum
    EXPECT_EQ(rewritten(changed, true, 100), std::nullopt);
}

TEST(BodyRewriter, LeavesTheRestOfALongBodyAsItIs) {
    const auto text = page(5000);
    const auto some = rewritten(text, false, 1 << 20, 1000);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->substr(some->size() - 1000), text.substr(text.size() - 1000));
    EXPECT_NE(some, text);
    for (const std::size_t piece : {1u, 7u, 999u, 1000u, 1001u, 65536u}) {
        EXPECT_EQ(rewritten(text, false, piece, 1000), some) << piece;
        EXPECT_EQ(gunzipped(rewritten(gzipped(text), true, piece, 1000).value_or("")), *some)
            << piece;
    }
}

TEST(BodyRewriter, RefusesABomb) {
    std::string bomb;
    GzipEncoder encoder;
    const std::string zeros(1 << 20, '0');
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(encoder.encode(zeros, i == 19, bomb));
    EXPECT_EQ(rewritten(bomb, true, 65536, 1 << 20), std::nullopt);
    EXPECT_TRUE(rewritten(bomb, true, 65536)) << "it is within the bound";
}

TEST(BodyRewriter, LeavesTheLinksInTheRestOfABomb) {
    const std::string link = "<a href=\"https://pypi.test/x\">";
    const auto long_page = [&](std::string_view filling) {
        std::string text = link;
        for (int i = 0; text.size() < 3u << 20; ++i) text.append(filling).append(std::to_string(i));
        return text + link;
    };
    const std::string blank(10'000, ' ');
    const auto bomb = gzipped(long_page(blank)), ordinary = gzipped(long_page(" and so on: "));
    EXPECT_GT((3u << 20) / bomb.size(), BodyRewriter::kMaxRatio);
    const auto cut = gunzipped(rewritten(bomb, true, 100).value_or(""));
    EXPECT_TRUE(cut.starts_with("<a href=\"http://mirror.test/pypi/x\">"));
    EXPECT_TRUE(cut.ends_with(link));
    const auto whole = gunzipped(rewritten(ordinary, true, 100).value_or(""));
    EXPECT_TRUE(whole.ends_with("<a href=\"http://mirror.test/pypi/x\">"));
}

TEST(BodyRewriter, DoesLittleInOneStep) {
    std::string coded;
    ASSERT_TRUE(GzipEncoder().encode(std::string(50 << 20, 'x'), true, coded));
    auto made = rewriter(true, kMuch);
    std::string_view in = coded;
    std::size_t steps = 0;
    while (!made.done()) {
        ASSERT_TRUE(made.step(in, true));
        ++steps;
    }
    EXPECT_GE(steps, (50u << 20) / LinkReplacer::kStep);
}

}  // namespace body_rewriter_test
}  // namespace proxy
