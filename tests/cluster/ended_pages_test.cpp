// The events that end a stored page, or keep it from standing in for the present answer of the
// origin (RFC 9111 §4.2.4, §4.3.3), and the size to which confirmations let it grow.
#include <algorithm>
#include <map>
#include <mutex>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace ended_pages_test {

/// The answer of the origin the second time, and ever after.
struct News {
    const char* status;
    const char* fields = "";
};
const std::vector<News> kEnds{
    {"401 Unauthorized", "WWW-Authenticate: Basic\r\n"},
    {"403 Forbidden"},
    {"302 Found", "Location: /login\r\n"},
    {"404 Not Found"},
    {"410 Gone"},
    {"451 Unavailable For Legal Reasons"},
    {"200 OK", "Cache-Control: max-age=1000\r\nSet-Cookie: a=b\r\n"},
};
const std::vector<News> kPasses{{"503 Service Unavailable"}, {"429 Too Many Requests"}};

unsigned number(const char* status) {
    return static_cast<unsigned>(std::atoi(status));
}
std::string path(const News& news) {
    return "/" + std::string(news.status, 3);
}

class EndedPages : public NodesTest {
protected:
    /// A page that is stale at once, with this for Cache-Control; then the case that the path
    /// stands for.
    auto serve(const std::string& control) {
        return origin.set([this, control](Exchange& e) {
            const auto known = !e.field("Cookie").empty();
            const std::lock_guard lock(mutex_);
            if (served_[e.target]++ == 0)
                return e.answer(
                    "ETag: \"v1\"\r\nAge: 100\r\nCache-Control: max-age=50" + control + "\r\n",
                    "old");
            if (e.target == "/of-users")
                return e.answer("", "new", known ? "403 Forbidden" : "503 Service Unavailable");
            for (const auto* all : {&kEnds, &kPasses})
                for (const auto& news : *all)
                    if (path(news) == e.target) return e.answer(news.fields, "new", news.status);
        });
    }
    void store_all() {
        for (const auto* all : {&kEnds, &kPasses})
            for (const auto& news : *all) EXPECT_EQ(get("a", path(news)).body, "old");
        EXPECT_EQ(get("a", "/of-users").body, "old");
    }
    bool is_given(const News& news, const Answer& answer) const {
        return answer.status == number(news.status) && answer.body == "new";
    }
    /// Which pages go on when the origin is gone, as far as stale_when_unreachable goes.
    void expect_fates_without_origin() {
        origin.die();
        for (const auto& news : kEnds) {
            const auto answer = get("a", path(news));
            EXPECT_NE(answer.body, "old") << news.status;
            EXPECT_GE(answer.status, 500u) << news.status;
        }
        for (const auto& news : kPasses) EXPECT_EQ(get("a", path(news)).body, "old") << news.status;
        EXPECT_EQ(get("a", "/of-users").body, "old") << "the refusal was for another";
    }

private:
    std::mutex mutex_;
    std::map<std::string, unsigned> served_;
};

TEST_F(EndedPages, AreThoseThatAValidationReplaces) {
    const auto scripted = serve("");
    start(config("a"));
    store_all();
    EXPECT_EQ(get("a", "/of-users", "Cookie: a=b\r\n").status, 403u);
    for (const auto* all : {&kPasses, &kEnds})
        for (const auto& news : *all)
            EXPECT_TRUE(is_given(news, get("a", path(news)))) << news.status;
    expect_fates_without_origin();
}

TEST_F(EndedPages, AreThoseThatARefreshReplaces) {  // RFC 5861 §3
    const auto scripted = serve(", stale-while-revalidate=1000");
    start(config("a"));
    store_all();
    EXPECT_EQ(get("a", "/of-users", "Cookie: a=b\r\n").body, "old");
    for (const auto& news : kPasses) EXPECT_EQ(get("a", path(news)).body, "old");
    for (const auto& news : kEnds) {
        EXPECT_EQ(get("a", path(news)).body, "old") << "while it is refreshed behind the answer";
        EXPECT_TRUE(eventually([&] { return is_given(news, get("a", path(news))); }))
            << news.status;
        EXPECT_TRUE(is_given(news, get("a", path(news)))) << news.status;
    }
    for (const auto& news : kPasses) EXPECT_EQ(get("a", path(news)).body, "old") << news.status;
    EXPECT_EQ(get("a", "/of-users").body, "old");
    expect_fates_without_origin();
}

TEST_F(EndedPages, AreStoredErrorsWhereTheOriginSaysMore) {  // RFC 5861 §4
    for (const std::string control : {"stale-if-error=1000", "stale-while-revalidate=1000"}) {
        for (const auto* status : {"503 Service Unavailable", "502 Bad Gateway", "429 Slow Down"}) {
            SCOPED_TRACE(control + " " + status);
            std::atomic<unsigned> served = 0;
            const auto scripted = origin.set([&](Exchange& e) {
                e.answer("Age: 100\r\nCache-Control: max-age=50, " + control + "\r\n",
                         "version " + std::to_string(++served), status);
            });
            start(config("a"));
            for (const auto* version : {"version 1", "version 2", "version 3"}) {
                const auto answer = get("a", "/");
                EXPECT_EQ(answer.status, number(status));
                EXPECT_EQ(answer.body, version);
            }
            kill("a");
        }
    }
}

TEST_F(EndedPages, AreErrorsOnlyWhenTheyAreStale) {
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), "not now", "503 Service Unavailable"); });
    start(config("a"));
    get("a", "/");
    EXPECT_TRUE(get("a", "/").cache_status().starts_with("a; hit"));
}

/// An origin whose confirmations bring fields of other names each time.
class GrowingHeads : public NodesTest {
protected:
    struct Growth {
        unsigned lines;
        std::size_t bytes;  // of each
    };
    // Once it fits, and twice it exceeds the lines, or the bytes, of a head.
    static constexpr Growth kGrowths[] = {{150, 10}, {10, 5000}};

    static std::string new_fields(const Growth& growth, unsigned n) {
        std::string lines;
        for (unsigned i = 0; i < growth.lines; ++i)
            lines += "X-" + std::to_string(n) + "-" + std::to_string(i) + ": " +
                     std::string(growth.bytes, 'y') + "\r\n";
        return lines;
    }
    void expect_bounded(const Answer& answer) const {
        constexpr std::size_t kOwn = 1000, kOwnLines = 10;  // those of the node
        EXPECT_EQ(answer.status, 200u);
        EXPECT_LE(answer.head.size(), LimitsConfig().head + kOwn);
        EXPECT_LE(std::ranges::count(answer.head, '\n'), kHeadLines + kOwnLines);
    }
};

TEST_F(GrowingHeads, OfA304AreFetchedWholeBeyondTheLimits) {
    for (const auto& growth : kGrowths) {
        SCOPED_TRACE(growth.lines);
        std::atomic<unsigned> served = 0, whole = 0;
        const auto scripted = origin.set([&](Exchange& e) {
            const std::string fields = "ETag: \"a\"\r\nCache-Control: max-age=0\r\n";
            const auto n = ++served;
            if (!e.field("If-None-Match").empty())
                return e.send("HTTP/1.1 304 Not Modified\r\n" + fields + new_fields(growth, n) +
                              "\r\n");
            ++whole;
            e.answer(fields, "body");
        });
        start(config("a"));
        for (int i = 0; i < 12; ++i) {
            const auto answer = get("a", "/");
            EXPECT_EQ(answer.body, "body");
            expect_bounded(answer);
        }
        EXPECT_GE(whole, 4u) << "every third is too much";
        EXPECT_GT(status("a").work.validations, 0u);
        EXPECT_EQ(count("a", Outcome::error), 0u);
        kill("a");
    }
}

TEST_F(GrowingHeads, OfAnAnswerToHeadAreNotKeptBeyondTheLimits) {  // RFC 9111 §4.3.5
    for (const auto& growth : kGrowths) {
        SCOPED_TRACE(growth.lines);
        std::atomic<unsigned> served = 0;
        const auto scripted = origin.set([&](Exchange& e) {
            const auto more = e.method == "HEAD" ? new_fields(growth, ++served) : "";
            e.answer(fresh("ETag: \"a\"\r\n" + more), "body");
        });
        start(config("a"));
        get("a", "/");
        for (int i = 0; i < 6; ++i) {
            EXPECT_EQ(client().ask("HEAD", "/", "Cache-Control: no-cache\r\n").status, 200u);
            const auto answer = get("a", "/");
            EXPECT_EQ(answer.body, "body");
            expect_bounded(answer);
        }
        EXPECT_EQ(served, 6u);
        kill("a");
    }
}

}  // namespace ended_pages_test
}  // namespace proxy::test
