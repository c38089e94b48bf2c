// Ranges of stored responses, and bodies that are stored in blocks (RFC 9110 §14, RFC 9111 §3.4;
// behaviours 14 and 15).
#include <algorithm>

#include "proxy/fetch/retry_plan.hpp"
#include "proxy/http/range.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace ranges_test {

using namespace std::chrono_literals;

class Ranges : public NodesTest {
protected:
    Config settings(const std::string& node) const {
        auto result = config(node);
        result.cache.block = kBlock;
        result.cache.slice_from = 4 * kBlock;
        return result;
    }
    Answer part(std::string_view range, std::string_view more = {}) const {
        return get("a", "/file", "Range: bytes=" + std::string(range) + "\r\n" + std::string(more));
    }
    Asked asked() const { return ranges_asked(origin); }
    /// From now on it is the content of the origin; it may be changed under changing_.
    auto serve(const File& file) {
        return origin.set([&](Exchange& e) {
            const std::lock_guard lock(changing_);
            file.answer(e);
        });
    }

    std::mutex changing_;
};

TEST_F(Ranges, OfAStoredResponseComeOutOfTheStore) {  // 14
    const File file{bytes(1000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    struct Case {
        const char *range, *content_range;
        std::size_t first, count;
    };
    for (const auto& c :
         {Case{"0-9", "bytes 0-9/1000", 0, 10}, Case{"10-10", "bytes 10-10/1000", 10, 1},
          Case{"990-", "bytes 990-999/1000", 990, 10}, Case{"-5", "bytes 995-999/1000", 995, 5},
          Case{"900-5000", "bytes 900-999/1000", 900, 100},
          Case{"-5000", "bytes 0-999/1000", 0, 1000}}) {
        const auto answer = part(c.range);
        EXPECT_EQ(answer.status, 206u) << c.range;
        EXPECT_EQ(answer.field("Content-Range"), c.content_range);
        EXPECT_EQ(answer.body, file.content.substr(c.first, c.count)) << c.range;
        EXPECT_EQ(answer.field("ETag"), file.etag);
        EXPECT_FALSE(answer.field("Age").empty());
        EXPECT_TRUE(answer.cache_status().starts_with("a; hit")) << answer.cache_status();
    }
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Ranges, ThatHoldNoByteAre416) {  // 14
    const File file{bytes(1000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    for (const auto* range : {"1000-", "1000-1001", "-0"}) {
        const auto answer = part(range);
        EXPECT_EQ(answer.status, 416u) << range;
        EXPECT_EQ(answer.field("Content-Range"), "bytes */1000");
        EXPECT_TRUE(answer.cache_status().starts_with("a; hit")) << answer.cache_status();
    }
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Ranges, ThatCannotBeReadGetTheWhole) {  // RFC 9110 §14.2
    const File file{bytes(1000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    for (const auto* range : {"5-1", "a-b", "0-1,b", ""}) {
        const auto answer = part(range);
        EXPECT_EQ(answer.status, 200u) << range;
        EXPECT_EQ(answer.body, file.content) << range;
    }
    EXPECT_EQ(get("a", "/file", "Range: lines=0-1\r\n").status, 200u);
    const auto head = client().ask("HEAD", "/file", "Range: bytes=0-1\r\n");
    EXPECT_EQ(head.status, 200u);  // only GET has ranges
    EXPECT_EQ(head.field("Content-Length"), "1000");
}

TEST_F(Ranges, AreJudgedAfterTheConditions) {  // RFC 9110 §13.1.5, §13.2.2
    const File file{bytes(1000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    EXPECT_EQ(part("0-9", "If-Range: \"v1\"\r\n").status, 206u);
    EXPECT_EQ(part("0-9", "If-Range: \"v0\"\r\n").status, 200u);
    EXPECT_EQ(part("0-9", "If-Range: W/\"v1\"\r\n").status, 200u);
    EXPECT_EQ(part("0-9", "If-None-Match: \"v1\"\r\n").status, 304u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Ranges, ComeOutOfWhatIsStillArriving) {
    Gate half, rest;
    const File file{bytes(3000)};
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\nETag: \"v1\"\r\n" + fresh() + "\r\n" +
               file.content.substr(0, 2000));
        half.wait();
        e.send(file.content.substr(2000));
        rest.open();
    });
    start(settings("a"));
    auto first = client();
    first.begin("GET", "/file");
    ASSERT_TRUE(first.read_at_least(1000));
    const auto answer = part("100-199");  // does not wait for the end
    EXPECT_EQ(answer.status, 206u);
    EXPECT_EQ(answer.body, file.content.substr(100, 100));
    auto late = client();
    late.begin("GET", "/file", "Range: bytes=1990-2009\r\n");
    half.open();
    EXPECT_EQ(late.read().body, file.content.substr(1990, 20));
    EXPECT_EQ(first.read().body, file.content);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Ranges, OfWhatIsNotStoredFetchTheirBlockAndNoMore) {  // 15
    const File file{bytes(10'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    const auto first = part("5000-5009");
    EXPECT_EQ(first.status, 206u);
    EXPECT_EQ(first.body, file.content.substr(5000, 10));
    EXPECT_EQ(first.field("Content-Range"), "bytes 5000-5009/10000");
    EXPECT_EQ(asked(), Asked{"bytes=4096-8191"});

    const auto inside = part("8000-8100");
    EXPECT_EQ(inside.body, file.content.substr(8000, 101));
    EXPECT_TRUE(inside.cache_status().starts_with("a; hit")) << inside.cache_status();
    EXPECT_EQ(asked().size(), 1u);

    const auto across = part("8000-9000");  // one block more
    EXPECT_EQ(across.body, file.content.substr(8000, 1001));
    EXPECT_EQ(asked(), (Asked{"bytes=4096-8191", "bytes=8192-9999"}));

    const auto whole = get("a", "/file");  // asks for the missing part alone
    EXPECT_EQ(whole.status, 200u);
    EXPECT_EQ(whole.field("Content-Range"), "");
    EXPECT_EQ(whole.field("Content-Length"), "10000");
    EXPECT_EQ(whole.body, file.content);
    EXPECT_TRUE(contains(whole.cache_status(), "fwd=partial")) << whole.cache_status();
    EXPECT_EQ(asked(), (Asked{"bytes=4096-8191", "bytes=8192-9999", "bytes=0-4095"}));
    EXPECT_EQ(part("-10").body, file.content.substr(9990));
    EXPECT_EQ(get("a", "/file").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(asked().size(), 3u);
    EXPECT_EQ(client().ask("HEAD", "/file").field("Content-Length"), "10000");
}

TEST_F(Ranges, OfAnOriginThatIgnoresThemAreCutOutOfTheWhole) {
    const auto content = bytes(10'000);
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh("ETag: \"v1\"\r\n"), content); });
    start(settings("a"));
    const auto answer = part("5000-5009");
    EXPECT_EQ(answer.status, 206u);
    EXPECT_EQ(answer.body, content.substr(5000, 10));
    EXPECT_EQ(get("a", "/file").body, content);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Ranges, RangesWithoutAStrongValidatorArePassedOnAndNotStored) {  // RFC 9111 §3.4
    for (const auto* etag : {"W/\"v1\"", ""}) {
        File file{bytes(10'000)};
        file.etag = etag;
        const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
        start(settings("a"));
        for (int i = 0; i < 2; ++i) {
            const auto answer = part("5000-5009");
            EXPECT_EQ(answer.status, 206u);
            EXPECT_EQ(answer.body, file.content.substr(5000, 10));
        }
        EXPECT_EQ(asked().back(), "bytes=5000-5009");
        EXPECT_EQ(status("a").cache.objects, 0u);
    }
}

TEST_F(Ranges, ThatTheOriginRefusesAreRefused) {
    const File file{bytes(10'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    const auto answer = part("20000-20001");
    EXPECT_EQ(answer.status, 416u);
    EXPECT_EQ(answer.field("Content-Range"), "bytes */10000");
}

TEST_F(Ranges, OfAVersionThatIsGoneBringTheWhole) {  // RFC 9110 §13.1.5
    for (const auto* more : {"Cache-Control: private\r\n", "Cache-Control: max-age=1000\r\n"}) {
        for (const auto* etag : {"\"v2\"", "W/\"v2\""}) {
            File file{bytes(8000)};
            file.etag = etag;
            file.more = more;
            const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
            start(settings("a"));
            for (const auto* range : {"4096-", "4096-7999", "0-4095", "5000-5009"}) {
                const auto answer = part(range, "If-Range: \"v1\"\r\n");
                EXPECT_EQ(answer.status, 200u) << range << ' ' << etag << ' ' << more;
                EXPECT_EQ(answer.body, file.content);
            }
        }
    }
}

TEST_F(Ranges, ThatTheOriginAnswersOddlyAreAskedForAsTheyAre) {
    for (const auto* odd : {"304 Not Modified", "412 Precondition Failed", "416 No Such Range"}) {
        const File file{bytes(10'000)};
        const auto scripted = origin.set([&](Exchange& e) {
            if (e.field("Range") != "bytes=4096-8191") return file.answer(e);
            e.send("HTTP/1.1 " + std::string(odd) + "\r\n" + fresh("Content-Length: 0\r\n\r\n"));
        });
        start(settings("a"));
        const auto answer = part("5000-5009");
        EXPECT_EQ(answer.status, 206u) << odd;
        EXPECT_EQ(answer.body, file.content.substr(5000, 10));
        EXPECT_EQ(asked().back(), "bytes=5000-5009");
        EXPECT_EQ(status("a").cache.objects, 0u);  // what answers a range is not the page
    }
}

TEST_F(Ranges, OnlyIfCachedFetchNothing) {  // 42, RFC 9111 §5.2.1.7
    const File file{bytes(10'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    const std::string only = "Cache-Control: only-if-cached\r\n";
    part("5000-5009");
    ASSERT_EQ(asked().size(), 1u);
    for (const auto* range : {"0-", "8000-9000", "0-5000"}) {
        const auto refused = part(range, only);
        EXPECT_EQ(refused.status, 504u) << range;
        EXPECT_EQ(refused.cache_status(), "a; detail=only-if-cached");
    }
    EXPECT_EQ(get("a", "/file", only).status, 504u);
    EXPECT_EQ(part("8000-8191", only).body, file.content.substr(8000, 192));
    EXPECT_EQ(get("a", "/file", only + "If-None-Match: \"v1\"\r\n").status, 304u);
    EXPECT_EQ(asked().size(), 1u);
    EXPECT_EQ(count("a", Outcome::error), 4u);
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_EQ(get("a", "/file", only).body, file.content);  // now all of it is here
}

TEST_F(Ranges, OfAnotherVersionAreNeverPutTogether) {  // 15 M
    File file{bytes(10'000)};
    const auto scripted = serve(file);
    start(settings("a"));
    EXPECT_EQ(part("0-9").status, 206u);
    const auto changed = bytes(9'000, 5);
    {
        const std::lock_guard lock(changing_);
        file.content = changed;
        file.etag = "\"v2\"";
    }
    const auto whole = get("a", "/file");  // the second block says that all has changed
    EXPECT_EQ(whole.status, 200u);
    if (whole.complete) {
        EXPECT_EQ(whole.body, changed);
    } else {  // its head was out already: cut, not mixed
        EXPECT_TRUE(std::string_view(bytes(10'000)).starts_with(whole.body));
    }
    EXPECT_EQ(part("5000-5009").body, changed.substr(5000, 10));
}

TEST_F(Ranges, RangesOfAnOriginThatForbidsStoringAreNotStored) {  // RFC 9111 §5.2.2.5, §5.2.2.7
    File file{bytes(20'000)};
    const auto scripted = serve(file);
    start(settings("a"));
    EXPECT_EQ(part("0-9").status, 206u);
    for (const auto* forbidding : {"private", "no-store"}) {
        {
            const std::lock_guard lock(changing_);
            file.more = std::string("Cache-Control: ") + forbidding + "\r\n";
        }
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(part("9000-9009").body, file.content.substr(9000, 10)) << forbidding;
    }
    const Asked twice_each{"bytes=0-4095", "bytes=8192-12287", "bytes=8192-12287",
                           "bytes=8192-12287", "bytes=8192-12287"};
    EXPECT_EQ(asked(), twice_each);
    EXPECT_TRUE(part("0-9").cache_status().starts_with("a; hit"));
}

class LargeBodies : public Ranges {};

// Some origins give all representations of a resource one tag (RFC 9110 §8.8.3.3 forbids it).
TEST_F(LargeBodies, OfTwoVariantsWithOneTagAreNeverPutTogether) {
    const File zipped{bytes(20'000, 3), "\"v1\"",
                      "Cache-Control: max-age=1000\r\nVary: Accept-Encoding\r\n"
                      "Content-Encoding: gzip\r\n"},
        plain{bytes(20'000, 7), "\"v1\"",
              "Cache-Control: max-age=1000\r\nVary: Accept-Encoding\r\n"};
    const auto scripted = origin.set(
        [&](Exchange& e) { (e.field("Accept-Encoding") == "gzip" ? zipped : plain).answer(e); });
    start(settings("a"));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(get("a", "/file", "Accept-Encoding: gzip\r\n").body, zipped.content);
        EXPECT_EQ(part("0-9", "Accept-Encoding: gzip\r\n").body, zipped.content.substr(0, 10));
        EXPECT_EQ(get("a", "/file").body, plain.content);
        EXPECT_EQ(part("0-9").body, plain.content.substr(0, 10));
    }
    EXPECT_EQ(count("a", Outcome::local_hit), 6u);
}

// As long, and in one language, but for one client each.
TEST_F(LargeBodies, OfTwoClientsWithOneTagAreNeverPutTogether) {
    const std::string fields = "Cache-Control: max-age=1000\r\nVary: Accept-Encoding, X-User\r\n";
    const File ones{bytes(20'000, 3), "\"v1\"", fields}, others{bytes(20'000, 7), "\"v1\"", fields};
    const auto scripted =
        origin.set([&](Exchange& e) { (e.field("X-User") == "1" ? ones : others).answer(e); });
    start(settings("a"));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(get("a", "/file", "X-User: 1\r\n").body, ones.content);
        EXPECT_EQ(get("a", "/file", "X-User: 2\r\n").body, others.content);
    }
    EXPECT_EQ(count("a", Outcome::local_hit), 2u);
}

// One body for all clients that negotiate otherwise, which a strong tag says: it is fetched once.
TEST_F(LargeBodies, AreOneForAllThatNegotiateTheSame) {
    const File file{bytes(20'000), "\"v1\"",
                    "Cache-Control: max-age=1000\r\nVary: Accept-Encoding\r\n"};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    EXPECT_EQ(get("a", "/file", "Accept-Encoding: gzip\r\n").body, file.content);
    EXPECT_EQ(asked().size(), 1u);
    EXPECT_EQ(get("a", "/file", "Accept-Encoding: br\r\n").body, file.content);
    EXPECT_EQ(asked().size(), 2u) << "the head of another variant";
}

TEST_F(LargeBodies, AreStoredInBlocks) {  // 15
    const File file{bytes(20'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.field("Content-Length"), "20000");
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(count("a", Outcome::origin_fetch), 1u);
    EXPECT_EQ(asked(), Asked{"-"}) << "one request for one";
    EXPECT_EQ(status("a").cache.objects, 6u);
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_EQ(part("15000-").body, file.content.substr(15'000));
    EXPECT_EQ(count("a", Outcome::local_hit), 2u);
    EXPECT_EQ(asked().size(), 1u);
    EXPECT_EQ(get("a", "/file", "If-None-Match: \"v1\"\r\n").status, 304u);
}

/// The parts of a multipart/byteranges as `Content-Range|bytes`, by its own boundary.
std::vector<std::string> parts_of(const Answer& answer) {
    const std::string type = answer.field("Content-Type"), kind = "multipart/byteranges; boundary=";
    if (!type.starts_with(kind)) return {"no parts: " + type};
    const auto line = "\r\n--" + type.substr(kind.size());
    std::vector<std::string> parts;
    for (auto at = answer.body.find(line); at != std::string::npos;) {
        const auto begin = at + line.size();
        if (answer.body.compare(begin, std::string::npos, "--\r\n") == 0) return parts;
        at = answer.body.find(line, begin);
        const auto part = answer.body.substr(begin, at - begin);
        const auto head = part.find("\r\n\r\n");
        parts.push_back(field_of(part.substr(2, head), "Content-Range") + '|' +
                        part.substr(head + 4));
    }
    return {"no end"};
}
std::string part_of(const File& file, std::size_t first, std::size_t last) {
    return "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
           std::to_string(file.content.size()) + '|' + file.content.substr(first, last - first + 1);
}

TEST_F(Ranges, SeveralOfAStoredResponseComeTogether) {  // RFC 9110 §14.6, §15.3.7.2
    File file{bytes(1000)};
    file.more += "Content-Type: text/plain\r\n";
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    const auto several = part("900-,0-1");
    EXPECT_EQ(several.status, 206u);
    EXPECT_TRUE(several.complete);
    EXPECT_EQ(several.field("Content-Range"), "");
    EXPECT_EQ(several.field("ETag"), "\"v1\"");
    EXPECT_EQ(parts_of(several), (std::vector{part_of(file, 900, 999), part_of(file, 0, 1)}));
    EXPECT_TRUE(contains(several.body, "Content-Type: text/plain\r\nContent-Range: "))
        << several.body;
    EXPECT_TRUE(several.cache_status().starts_with("a; hit")) << several.cache_status();
    EXPECT_EQ(part("0-5,3-9").field("Content-Range"), "bytes 0-9/1000") << "one is left";
    EXPECT_EQ(part("5-6,2000-").body, file.content.substr(5, 2));
    EXPECT_EQ(part("1000-,2000-").status, 416u);
    EXPECT_EQ(part("0-1,5-6", "If-Range: \"v0\"\r\n").body, file.content);
    EXPECT_EQ(part("0-1,5-6", "If-None-Match: \"v1\"\r\n").status, 304u);
    EXPECT_EQ(client().ask("HEAD", "/file", "Range: bytes=0-1,5-6\r\n").status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(LargeBodies, GiveSeveralRangesOutOfTheirBlocks) {
    const File file{bytes(20'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    ASSERT_EQ(part("1-4").status, 206u);
    const std::vector both{part_of(file, 1, 4), part_of(file, 15'000, 17'000)};
    const auto cold = part("1-4,15000-17000");
    EXPECT_EQ(cold.status, 206u);
    EXPECT_EQ(parts_of(cold), both);
    EXPECT_TRUE(contains(cold.cache_status(), "fwd=partial")) << cold.cache_status();
    EXPECT_EQ(asked(), (Asked{"bytes=0-4095", "bytes=12288-19999"}));
    ASSERT_TRUE(eventually([&] { return status("a").cache.objects == 4; })) << "to their end";
    origin.die();
    const auto warm = part("1-4,15000-17000");
    EXPECT_EQ(parts_of(warm), both) << "the origin is gone";
    EXPECT_TRUE(warm.cache_status().starts_with("a; hit")) << warm.cache_status();
    const std::string only = "Cache-Control: only-if-cached\r\n";
    EXPECT_EQ(parts_of(part("1-4,15000-17000", only)), both);
    EXPECT_EQ(part("1-4,5000-5001", only).status, 504u);
    EXPECT_EQ(part("1-4,5000-5001").status, 502u);
}

TEST_F(LargeBodies, SeveralRangesOverManyMissingBlocksGoToTheOriginAsTheyAre) {
    const File file{bytes(100'000)};
    const auto scripted = origin.set([&](Exchange& e) {
        if (contains(e.field("Range"), ","))
            e.answer("ETag: \"v1\"\r\nContent-Type: multipart/byteranges; boundary=x\r\n",
                     "the parts", "206 Partial Content");
        else
            file.answer(e);
    });
    start(settings("a"));
    ASSERT_EQ(part("1-4").status, 206u);
    std::string wide("0-0");
    for (int i = 1; i < 20; ++i)
        wide.append("," + std::to_string(5000 * i) + "-" + std::to_string(5000 * i));
    const auto answer = part(wide);
    EXPECT_EQ(answer.body, "the parts");
    EXPECT_EQ(asked(), (Asked{"bytes=0-4095", "bytes=" + wide})) << "and nothing else";
    EXPECT_EQ(part("1-4").cache_status().substr(0, 6), "a; hit") << "the block stays";
    std::string many("0-0");
    for (std::size_t i = 1; i <= kMaxRanges; ++i) many.append(",2-2");
    EXPECT_EQ(part(many).body, "the parts") << "too many for this node";
}

TEST_F(Ranges, OfAllBytesAreAWholeFetch) {
    for (const auto* etag : {"\"v1\"", "W/\"v1\"", ""}) {
        File file{bytes(10'000)};
        file.etag = etag;
        const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
        start(settings("a"));
        const auto before = asked().size();
        const auto first = part("0-");
        EXPECT_EQ(first.status, 206u) << etag;
        EXPECT_EQ(first.field("Content-Range"), "bytes 0-9999/10000");
        EXPECT_EQ(first.body, file.content);
        EXPECT_TRUE(part("0-").cache_status().starts_with("a; hit")) << etag;
        EXPECT_TRUE(get("a", "/file").cache_status().starts_with("a; hit")) << etag;
        EXPECT_EQ(asked().size(), before + 1);
        EXPECT_EQ(asked().back(), "-") << "the origin sees no range";
        kill("a");
    }
}

TEST_F(Ranges, OfTheEndFillTheStoreWhenTheyAreRepeated) {
    const auto content = bytes(10'000);
    std::string more = fresh();
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range").empty()) return e.answer(more + "Accept-Ranges: bytes\r\n", content);
        e.answer(more + "Content-Range: bytes 9990-9999/10000\r\n", content.substr(9990),
                 "206 Partial Content");
    });
    start(settings("a"));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(part("-10").body, content.substr(9990));
    ASSERT_TRUE(eventually([&] { return status("a").cache.objects == 1; }));
    const auto later = part("-10");
    EXPECT_EQ(later.status, 206u);
    EXPECT_EQ(later.body, content.substr(9990));
    EXPECT_TRUE(later.cache_status().starts_with("a; hit")) << later.cache_status();
    auto ranges = asked();
    std::ranges::sort(ranges);
    EXPECT_EQ(ranges, (Asked{"-", "bytes=-10", "bytes=-10"}));
    EXPECT_EQ(get("a", "/once", "Range: bytes=-10\r\n").body, content.substr(9990));
    EXPECT_EQ(asked().size(), 4u) << "one request is no reason";
}

TEST_F(Ranges, OfTheEndOfAPrivateBodyFillNothing) {
    const auto content = bytes(10'000);
    const std::string more = "Cache-Control: private\r\n";
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range").empty()) return e.answer(more, content);
        e.answer(more + "Content-Range: bytes 9990-9999/10000\r\n", content.substr(9990),
                 "206 Partial Content");
    });
    start(settings("a"));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(part("-10").body, content.substr(9990));
    EXPECT_TRUE(eventually([&] { return asked().size() == 9; }));
    EXPECT_EQ(std::ranges::count(asked(), "-"), 1) << "it was tried once";
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(LargeBodies, StayInOnePieceWithoutRangesOrAStrongTag) {
    const auto content = bytes(20'000);
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer(fresh(e.target == "/weak" ? "ETag: W/\"v1\"\r\nAccept-Ranges: bytes\r\n"
                                           : "ETag: \"v1\"\r\n"),
                 content);
    });
    start(settings("a"));
    for (const auto* target : {"/weak", "/none"}) {
        EXPECT_EQ(get("a", target).body, content);
        EXPECT_EQ(get("a", target).body, content);
    }
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(LargeBodies, AreValidatedByTheirHead) {  // 33, 36
    File file{bytes(20'000)};
    file.more = "Cache-Control: no-cache\r\n";
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    EXPECT_EQ(get("a", "/file").body, file.content);
    const auto requests = origin.requests();
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_EQ(origin.requests(), requests + 1);  // the 304
    EXPECT_EQ(count("a", Outcome::local_hit), 1u);
}

TEST_F(LargeBodies, OfANewVersionGiveTheirEndBeforeAllOfItHasCome) {
    const File before{bytes(200'000), "\"v1\"", "Cache-Control: no-cache\r\n"};
    const File now{bytes(200'000, 5), "\"v2\"", "Cache-Control: no-cache\r\n"};
    std::atomic<bool> changed{false}, all_sent{false};
    Gate rest;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!changed) return before.answer(e);
        if (!e.field("Range").empty()) return now.answer(e);
        e.send("HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nAccept-Ranges: bytes\r\n" + now.more +
               "Content-Length: 200000\r\n\r\n" + now.content.substr(0, 20'000));
        rest.wait();
        all_sent = true;
        e.send(now.content.substr(20'000));
    });
    start(settings("a"));
    EXPECT_EQ(get("a", "/file").body, before.content);
    changed = true;
    const auto end = part("199900-");
    EXPECT_FALSE(all_sent);
    rest.open();
    EXPECT_EQ(end.status, 206u);
    EXPECT_EQ(end.field("ETag"), now.etag);
    EXPECT_EQ(end.body, now.content.substr(199'900));
}

TEST_F(LargeBodies, AreRefreshedByAHead) {  // 37, RFC 9111 §4.3.5
    File file{bytes(20'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start(settings("a"));
    get("a", "/file");
    file.more = fresh("X-New: 1\r\n");
    EXPECT_EQ(client().ask("HEAD", "/file", "Cache-Control: no-cache\r\n").status, 200u);
    const auto requests = origin.requests();
    const auto answer = get("a", "/file");
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(answer.field("X-New"), "1");
    EXPECT_EQ(origin.requests(), requests);
}

TEST_F(LargeBodies, AreFetchedOnceForAllWhoWait) {
    const File file{bytes(20'000)};
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
               "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 5000));
        gate.wait();
        e.send(file.content.substr(5000));
    });
    start(settings("a"));
    std::vector<Client> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(client());
        clients.back().begin("GET", "/file");
        ASSERT_TRUE(clients.back().read_at_least(1000));
    }
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, file.content);
    EXPECT_EQ(asked().size(), 1u);
}

TEST_F(LargeBodies, SurviveABlockThatIsRefusedOnce) {
    for (const auto* status : {"503 Service Unavailable", "429 Too Many Requests"}) {
        const File file{bytes(20'000)};
        std::atomic<int> refused{0};
        const auto scripted = origin.set([&](Exchange& e) {
            if (e.field("Range") == "bytes=4096-19999" && refused++ == 0)
                return e.answer("Cache-Control: no-store\r\n", "not now", status);
            file.answer(e);
        });
        start(settings("a"));
        part("0-9");
        const auto answer = get("a", "/file");
        EXPECT_TRUE(answer.complete) << status;
        EXPECT_EQ(answer.body, file.content) << status;
        EXPECT_EQ(refused, 2) << status;
        EXPECT_EQ(count("a", Outcome::error), 0u);
        const auto requests = origin.requests();
        EXPECT_EQ(get("a", "/file").body, file.content);
        EXPECT_EQ(origin.requests(), requests) << "all of it is stored";
        kill("a");
    }
}

TEST_F(LargeBodies, SurviveABlockThatIsCutOnce) {  // RFC 9110 §13.1.5, §14.4
    const File file{bytes(20'000)};
    std::atomic<int> cut{0};
    const auto scripted = origin.set([&](Exchange& e) {
        if (cut++ > 0) return file.answer(e);
        e.keep = false;
        e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
               "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 9192));
    });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(asked(), (Asked{"-", "bytes=9192-12287", "bytes=12288-19999"}));
    const auto heads = origin.heads();
    const auto rest = std::find_if(heads.begin(), heads.end(), [](const auto& head) {
        return field_of(head, "Range") == "bytes=9192-12287";
    });
    ASSERT_NE(rest, heads.end());
    EXPECT_EQ(field_of(*rest, "If-Range"), "\"v1\"");
    EXPECT_EQ(count("a", Outcome::error), 0u);
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_EQ(asked().size(), 3u) << "all of it is stored";
}

TEST_F(LargeBodies, SurviveACutOfAnOriginThatIgnoresRanges) {  // RFC 9110 §14.2
    const File file{bytes(20'000)};
    const auto head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
                      "Content-Length: 20000\r\n\r\n";
    std::atomic<int> asked_for{0};
    const auto scripted = origin.set([&](Exchange& e) {
        e.keep = false;
        e.send(head + (asked_for++ > 0 ? file.content : file.content.substr(0, 9192)));
    });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, file.content);
    EXPECT_LE(asked().size(), 3u);
}

TEST_F(LargeBodies, ShareNoRestThatIsForFewerClients) {
    const File file{bytes(20'000)};
    for (const auto* field : {"Cache-Control: private\r\n", "Cache-Control: no-store\r\n",
                              "Cache-Control: max-age=1000\r\nVary: Cookie\r\n"}) {
        const File of_alice{bytes(20'000, 5), "\"v1\"", field};
        std::atomic<bool> begun{false};
        const auto scripted = origin.set([&](Exchange& e) {
            if (begun.exchange(true)) return of_alice.answer(e);
            e.keep = false;
            e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
                   "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 9192));
        });
        start(settings("a"));
        const auto cut = get("a", "/file", "Cookie: alice\r\n").body;
        EXPECT_TRUE(file.content.starts_with(cut.substr(0, 9192))) << field;
        const auto requests = origin.requests();
        EXPECT_EQ(part("9192-9200", "Cookie: bob\r\n").status, 206u) << field;
        EXPECT_GT(origin.requests(), requests) << field << "the store has nothing of alice";
        kill("a");
    }
}

TEST_F(LargeBodies, AreCutWhereTheRestIsOfAnotherVersion) {  // never two versions in one
    File file{bytes(20'000)};
    std::mutex mutex;
    const auto scripted = origin.set([&](Exchange& e) {
        const std::lock_guard lock(mutex);
        if (!e.field("Range").empty()) return file.answer(e);
        e.keep = false;
        e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
               "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 9192));
        file.content = bytes(20'000, 5);
        file.etag = "\"v2\"";
    });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_FALSE(answer.complete);
    EXPECT_TRUE(std::string_view(bytes(20'000)).starts_with(answer.body));
    EXPECT_EQ(count("a", Outcome::error), 1u);
}

TEST_F(LargeBodies, AreCutWhenABlockFailsAgainAndAgain) {  // never a short body as a whole one
    const File file{bytes(20'000)};
    std::atomic<unsigned> tries{0};
    const auto scripted = origin.set([&](Exchange& e) {
        ++tries;
        e.keep = false;
        if (!e.field("Range").empty()) return e.socket.reset();
        e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
               "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 8192));
    });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_GE(tries, kMaxTries);
    EXPECT_LE(tries, 2 * kMaxTries) << "on a kept connection that is closed, once more each";
    EXPECT_FALSE(answer.complete);
    EXPECT_EQ(answer.body, file.content.substr(0, 8192));
    EXPECT_EQ(count("a", Outcome::error), 1u);
    EXPECT_EQ(status("a").work.bytes_to_clients, 8192u);
}

TEST_F(LargeBodies, AreAskedForSoOftenInAllWhereverABlockFails) {
    const File file{bytes(20'000)};
    std::atomic<unsigned> tries{0};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto range = e.field("Range");
        if (range.empty()) {
            ++tries;
            e.keep = false;
            return e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
                          "Content-Length: 20000\r\n\r\n" + file.content.substr(0, 8192));
        }
        const auto block = range.ends_with("-12287");  // and what may be missing of it
        if (!block) return file.answer(e);
        const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
        ++tries;
        e.keep = false;
        if (first % 2 == 1) return e.answer("", "", "503 Service Unavailable");
        e.send("HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: " +
               std::to_string(12'288 - first) + "\r\nContent-Range: bytes " +
               std::to_string(first) + "-12287/20000\r\n\r\n" + file.content.substr(first, 101));
    });
    start(settings("a"));
    const auto answer = get("a", "/file");
    EXPECT_FALSE(answer.complete);
    EXPECT_EQ(tries, kMaxTries);
}

TEST_F(LargeBodies, AreNotAskedForAgainBeforeTheOriginSays) {  // RFC 9110 §10.2.3
    const File file{bytes(20'000)};
    std::atomic<unsigned> tries{0};
    std::atomic<int> seconds{1};
    std::chrono::steady_clock::time_point refused, again;
    std::mutex mutex;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range") != "bytes=4096-19999") return file.answer(e);
        const std::lock_guard lock(mutex);
        if (++tries > 1) {
            again = std::chrono::steady_clock::now();
            return file.answer(e);
        }
        refused = std::chrono::steady_clock::now();
        e.answer("Retry-After: " + std::to_string(seconds) + "\r\n", "", "503 Service Unavailable");
    });
    start(settings("a"));
    part("0-9");
    const auto answer = get("a", "/file");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(tries, 2u);
    EXPECT_GE(again - refused, 1s);

    tries = 0;
    seconds = 3600;  // nobody waits for that
    get("a", "/other", "Range: bytes=0-9\r\n");
    const auto cut = get("a", "/other");
    EXPECT_FALSE(cut.complete);
    EXPECT_EQ(tries, 1u);
}

TEST_F(LargeBodies, ComeWholeWhenTheOriginGivesNoPartsAnyMore) {
    const File file{bytes(20'000)};
    std::atomic<bool> in_parts{true};
    const auto scripted = origin.set([&](Exchange& e) {
        if (in_parts)
            file.answer(e);
        else
            e.answer(fresh("ETag: " + file.etag + "\r\n"), file.content);
    });
    start(settings("a"));
    EXPECT_EQ(part("0-9").status, 206u);
    in_parts = false;
    const auto answer = get("a", "/file");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(asked(), (Asked{"bytes=0-4095", "bytes=4096-19999"}));
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_EQ(part("15000-").body, file.content.substr(15'000));
    EXPECT_EQ(asked().size(), 2u) << "the whole is stored now";
    EXPECT_EQ(count("a", Outcome::error), 0u);
}

TEST_F(LargeBodies, AreRefusedInGoodOrderWhenTheFirstBlockFails) {
    const File file{bytes(20'000)};
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range").starts_with("bytes=0-")) {
            e.keep = false;
            return e.socket.reset();
        }
        file.answer(e);
    });
    start(settings("a"));
    part("5000-5009");
    EXPECT_EQ(get("a", "/file").status, 502u);
    EXPECT_EQ(count("a", Outcome::error), 1u);
}

TEST_F(LargeBodies, GiveTheAnswerOfAnOriginThatRefusesTheFirstBlock) {  // RFC 9110 §10.2.3
    const File file{bytes(20'000)};
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range").starts_with("bytes=0-")) return file.answer(e);
        e.answer("Retry-After: 7\r\nCache-Control: no-store\r\n", "busy",
                 "503 Service Unavailable");
    });
    start(settings("a"));
    ASSERT_EQ(part("0-9").status, 206u);
    const auto refused = part("9000-9009");
    EXPECT_EQ(refused.status, 503u);
    EXPECT_EQ(refused.field("Retry-After"), "7");
    EXPECT_EQ(refused.body, "busy");
}

class Refreshing : public NodesTest {};

TEST_F(Refreshing, HappensOnceBehindTheAnswer) {  // 32, RFC 5861 §3
    Gate gate;
    std::atomic<int> served{0};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto n = ++served;
        if (n == 2) gate.wait();
        e.answer(n == 1 ? "Age: 100\r\nCache-Control: max-age=50, stale-while-revalidate=1000\r\n"
                        : fresh(),
                 "version " + std::to_string(n));
    });
    start(config("a"));
    EXPECT_EQ(get("a", "/").body, "version 1");
    for (int i = 0; i < 5; ++i) {
        const auto stale = get("a", "/");  // while the refresh is under way
        EXPECT_EQ(stale.body, "version 1");
        EXPECT_TRUE(stale.cache_status().starts_with("a; hit; ttl=-")) << stale.cache_status();
        EXPECT_TRUE(stale.cache_status().ends_with("detail=stale-while-revalidate"));
    }
    ASSERT_TRUE(gate.wait_for(1));
    gate.open();
    EXPECT_TRUE(eventually([&] { return get("a", "/").body == "version 2"; }));
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(count("a", Outcome::origin_fetch), 1u);
}

TEST_F(Refreshing, DoesNotHappenBeyondTheWindow) {  // 32 M
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer(
            "Age: 100\r\nETag: \"a\"\r\nCache-Control: max-age=50, stale-while-revalidate=40\r\n",
            "body");
    });
    start(config("a"));
    for (std::size_t i = 1; i <= 3; ++i) {
        EXPECT_FALSE(contains(get("a", "/").cache_status(), "hit"));
        EXPECT_EQ(origin.requests(), i);
    }
}

TEST_F(Refreshing, BringsWhatCountsFromTheNextRequestOn) {  // 32
    std::atomic<int> served{0};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto n = ++served;
        e.answer(n == 1 ? "Age: 100\r\nCache-Control: max-age=50, stale-while-revalidate=1000\r\n"
                        : "ETag: \"b\"\r\nCache-Control: no-cache\r\n",
                 "version " + std::to_string(n));
    });
    start(config("a"));
    get("a", "/");
    EXPECT_EQ(get("a", "/").body, "version 1");
    ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
    ASSERT_TRUE(eventually([&] { return get("a", "/").body != "version 1"; }));
    const auto seen = origin.requests();
    get("a", "/");
    EXPECT_EQ(origin.requests(), seen + 1);  // no-cache: validated each time
}

class StaleAtAPeer : public NodesTest {
protected:
    PeerStatus peer(const std::string& node) const { return status(node).cluster.peers.front(); }
    /// Node a holds `/one`, which its summary promises and which is stale by now.
    void store_stale() {
        start_cluster(2);
        get("a", "/one");
        ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
        ASSERT_TRUE(eventually([&] {
            return contains(get("a", "/one", "Cache-Control: only-if-cached\r\n").head, " 504 ");
        }));
    }
};

TEST_F(StaleAtAPeer, IsValidatedAtTheOriginAndFetchedFromThePeer) {
    const auto body = bytes(100'000);
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"v1\"")
            e.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n" + fresh("X-New: yes\r\n") +
                   "\r\n");
        else
            e.answer("ETag: \"v1\"\r\nCache-Control: max-age=4\r\n", body);
    });
    store_stale();
    const auto answer = get("b", "/one");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, body);
    EXPECT_EQ(answer.field("X-New"), "yes");
    EXPECT_TRUE(contains(answer.cache_status(), "fwd-status=304")) << answer.cache_status();
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(peer("b").stale_hits, 1u);
    EXPECT_EQ(peer("b").hits, 1u);
    EXPECT_EQ(peer("a").served, 1u);
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "b; hit"));
}

TEST_F(StaleAtAPeer, GivesWayToWhatTheOriginHasNow) {
    std::atomic<int> served{0};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto n = std::to_string(++served);
        e.answer("ETag: \"v" + n + "\"\r\nCache-Control: max-age=4\r\n", "version " + n);
    });
    store_stale();
    EXPECT_EQ(get("b", "/one").body, "version 2");
    EXPECT_EQ(field_of(origin.heads().back(), "If-None-Match"), "\"v1\"");
    EXPECT_EQ(peer("b").hits, 0u);
    EXPECT_EQ(peer("a").served, 0u);
}

}  // namespace ranges_test
}  // namespace proxy::test
