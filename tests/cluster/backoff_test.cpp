// Origins that want fewer requests while stored responses stand in for theirs.
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "proxy/config/parse_config.hpp"
#include "proxy/upstream/origin_backoff.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace backoff_test {

/// A node whose stored responses stand in for errors, and an origin that can refuse.
class BackOff : public NodesTest {
protected:
    BackOff() {
        auto settings = config("a");
        const auto read = parse_config(
            R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": [
            {"name": "mirror", "match": {"paths": ["/m/*"]}, "stale_if_error": "1h",
             "at_least": "0s", "stale_on": [429]},
            {"name": "other", "match": {"paths": ["/n/*"]}, "stale_if_error": "1h",
             "at_least": "0s", "stale_on": [429]}]})");
        EXPECT_TRUE(read.config) << describe(read.errors);
        if (read.config) settings.rules = read.config->rules;
        start(settings);
        for (const auto* path : {"/m/1", "/m/2", "/n/1"}) get("a", path);
        asked_ = origin.requests();
    }

    void refuse(const std::string& status, const std::string& fields = {}) {
        status_ = status;
        fields_ = fields;
    }
    /// Requests at the origin since the last call.
    std::size_t asked() { return origin.requests() - std::exchange(asked_, origin.requests()); }
    static bool is_held_back(const Answer& answer) {
        return answer.status == 200 && contains(answer.cache_status(), "detail=backed_off");
    }

    std::string status_, fields_;
    bool slow_ = false;
    std::atomic<std::size_t> refused_{0};
    std::size_t asked_ = 0;
    ScriptedOrigin::Scripted scripted_ = origin.set([this](Exchange& e) {
        if (status_.empty())
            return e.answer("Cache-Control: max-age=0\r\nETag: \"1\"\r\n", "content");
        if (slow_) std::this_thread::sleep_for(kSlowTrouble);
        e.answer(fields_, "no", status_);
        ++refused_;
    });
};

TEST_F(BackOff, ObeysRetryAfterAndGivesStoredResponsesAtOnce) {  // RFC 9110 §10.2.3
    refuse("429 Too Many Requests", "Retry-After: 600\r\n");
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(asked(), 1u);
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(is_held_back(get("a", "/m/1")));
        EXPECT_TRUE(is_held_back(get("a", "/m/2"))) << "the same rule";
        EXPECT_TRUE(is_held_back(client().ask("HEAD", "/m/1")));
    }
    EXPECT_EQ(asked(), 0u);
    EXPECT_EQ(status("a").work.backed_off_requests, 60u);
    EXPECT_EQ(get("a", "/n/1").body, "content");
    EXPECT_EQ(asked(), 1u) << "another rule";
    EXPECT_EQ(get("a", "/m/3").status, 429u);
    EXPECT_EQ(get("a", "/m/1", "Cache-Control: no-cache\r\n").status, 429u);
    EXPECT_EQ(asked(), 2u) << "nothing stands in for these";
    refuse("");
    EXPECT_EQ(get("a", "/m/3").body, "content");
    EXPECT_TRUE(is_held_back(get("a", "/m/1"))) << "the origin has named its time";
}

TEST_F(BackOff, LetsOneRequestTryAfterAPauseOfItsOwn) {
    refuse("503 Service Unavailable");
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_TRUE(is_held_back(get("a", "/m/1")));
    EXPECT_EQ(asked(), 1u);
    EXPECT_TRUE(eventually([&] { return !is_held_back(get("a", "/m/2")); })) << "one tries";
    EXPECT_TRUE(is_held_back(get("a", "/m/1")));
    EXPECT_EQ(asked(), 1u);
    refuse("");
    EXPECT_TRUE(eventually([&] { return !is_held_back(get("a", "/m/1")); }));
    EXPECT_FALSE(is_held_back(get("a", "/m/2"))) << "it is over";
    EXPECT_EQ(asked(), 2u);
}

TEST_F(BackOff, EndsWithAnotherAnswer) {
    refuse("503 Service Unavailable");
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_TRUE(is_held_back(get("a", "/m/1")));
    refuse("");
    EXPECT_EQ(get("a", "/m/3").body, "content") << "nothing stands in for it";
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(asked(), 3u);
}

TEST_F(BackOff, HeedsTheAnswerToAHead) {
    refuse("429 Too Many Requests", "Retry-After: 600\r\n");
    EXPECT_EQ(client().ask("HEAD", "/m/1").status, 200u);
    EXPECT_EQ(asked(), 1u);
    EXPECT_TRUE(is_held_back(get("a", "/m/1")));
    EXPECT_EQ(asked(), 0u);
}

TEST_F(BackOff, IsForAPageWhoseErrorsComeSlowly) {
    slow_ = true;
    refuse("504 Gateway Timeout");
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(asked(), 1u);
    EXPECT_TRUE(is_held_back(get("a", "/m/1")));
    EXPECT_TRUE(is_held_back(client().ask("HEAD", "/m/1")));
    EXPECT_EQ(asked(), 0u);
    EXPECT_FALSE(is_held_back(get("a", "/m/2"))) << "another page may work";
    EXPECT_EQ(asked(), 1u);
    EXPECT_TRUE(eventually([&] {
        EXPECT_TRUE(is_held_back(get("a", "/m/1"))) << "nobody waits";
        return asked() > 0;
    })) << "one tries";
    EXPECT_TRUE(eventually([&] { return refused_ == 3; }));
    refuse("");
    EXPECT_TRUE(eventually([&] { return !is_held_back(get("a", "/m/1")); }));
    EXPECT_FALSE(is_held_back(get("a", "/m/1"))) << "it is over";
}

TEST_F(BackOff, IsNotForErrorsOfSinglePages) {
    refuse("500 Broken");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(asked(), 3u);
}

}  // namespace backoff_test
}  // namespace proxy::test
