#include <vector>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace early_answers_test {

/// Answers that come before the request's body has ended.
class EarlyAnswers : public NodesTest {
protected:
    EarlyAnswers() { start(config("a")); }

    static constexpr std::size_t kLarge = 16u << 20;  // more than sockets hold
    /// Begins to send kLarge bytes: these.
    static void begin(Client& uploader, std::string_view bytes) {
        uploader.begin("POST", "/", "Content-Length: " + std::to_string(kLarge) + "\r\n");
        uploader.socket.send(bytes);
    }
    static std::string refusal(std::string_view more = {}) {
        return "HTTP/1.1 413 Content Too Large\r\n" + std::string(more) +
               "Content-Length: 9\r\n\r\ntoo large";
    }
};

TEST_F(EarlyAnswers, ARefusalReachesAClientThatHasNotSentAll) {  // RFC 9112 §9.5
    const auto scripted = origin.set({});
    for (const auto* how : {"", "Connection: close\r\n"}) {
        origin.before_body([how](Exchange& e) {
            e.send(refusal(how));
            e.keep = false;
        });
        auto uploader = client();
        begin(uploader, "the first bytes");
        const auto answer = uploader.read();
        EXPECT_EQ(answer.status, 413u);
        EXPECT_EQ(answer.body, "too large");
        EXPECT_EQ(answer.field("Connection"), "close");
    }
}

TEST_F(EarlyAnswers, ARefusalWithoutACloseEndsTheUploadToo) {
    Gate end;
    const auto scripted = origin.set({});
    origin.before_body([&end](Exchange& e) {
        e.send(refusal());
        end.wait();  // neither reads nor closes
        e.keep = false;
    });
    auto uploader = client();
    begin(uploader, "the first bytes");
    EXPECT_EQ(uploader.read().status, 413u);
    end.open();
}

TEST_F(EarlyAnswers, AClientThatReadsOnlyAfterItsBodyHasBeenSentSeesItAsWell) {  // RFC 9112 §9.6
    Gate end;
    const auto scripted = origin.set({});
    origin.before_body([&end](Exchange& e) {
        e.send(refusal("Connection: close\r\n"));
        end.wait();
        e.keep = false;
    });
    auto uploader = client();
    begin(uploader, std::string(kLarge, 'x'));
    EXPECT_EQ(uploader.read().body, "too large");
    uploader.socket.shut_send();
    EXPECT_TRUE(uploader.at_end());
    end.open();
}

TEST_F(EarlyAnswers, AnOriginThatAnswersAndGoesOnReadingGetsAllOfTheBody) {
    const auto scripted = origin.set({});
    origin.before_body(
        [](Exchange& e) { e.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); });
    auto uploader = client();
    const auto answer = uploader.ask("POST", "/", {}, std::string(kLarge, 'x'));
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_TRUE(eventually([&] { return origin.requests() == 1; }));  // it has read it all
    EXPECT_EQ(uploader.ask("POST", "/", {}, "x").status, 200u);       // on the same connection
    EXPECT_TRUE(eventually([&] { return origin.requests() == 2; }));
}

TEST_F(EarlyAnswers, AnOriginThatAnsweredBeforeTheBodysEndGetsNoOtherRequestThere) {
    const auto scripted = origin.set([](Exchange& e) { e.answer({}, "next"); });
    auto uploader = client();
    EXPECT_EQ(uploader.ask("POST", "/", {}, "x").body, "next");
    EXPECT_EQ(uploader.ask("POST", "/", {}, "x").body, "next");
    const auto before = origin.connections();
    origin.before_body([](Exchange& e) {
        if (e.target == "/early") e.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    EXPECT_EQ(uploader.ask("POST", "/early", {}, std::string(kLarge, 'x')).body, "ok");
    EXPECT_EQ(uploader.ask("POST", "/", {}, "x").body, "next");
    EXPECT_GT(origin.connections(), before);
}

TEST_F(EarlyAnswers, AnInterimAnswerInTheMiddleOfABodyIsPassedOnAndTheBodyGoesOn) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer({}, std::to_string(e.body.size())); });
    origin.before_body(
        [](Exchange& e) { e.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"); });
    auto uploader = client();
    begin(uploader, "x");
    EXPECT_EQ(uploader.read(true).status, 103u);
    uploader.socket.send(std::string(kLarge - 1, 'x'));
    const auto answer = uploader.read();
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, std::to_string(kLarge));
}

TEST_F(EarlyAnswers, AnOriginThatClosesInTheMiddleOfABodyIsABadGateway) {
    const auto scripted = origin.set({});
    origin.before_body([](Exchange& e) { e.keep = false; });
    auto uploader = client();
    begin(uploader, "the first bytes");
    EXPECT_EQ(uploader.read().status, 502u);
}

/// A node with four connections to its origin.
class StalledUploads : public NodesTest {
protected:
    StalledUploads() {
        auto settings = config("a");
        settings.limits.upstream_connections = 4;
        start(settings);
    }
    /// Begins a body that never comes.
    static void stall(Client& uploader) {
        uploader.begin("POST", "/stalled", "Content-Length: 1000\r\n");
        uploader.socket.send("the first bytes");
    }
    bool took(std::size_t uploads) const {
        return eventually([&] { return status("a").work.origin_requests == uploads; });
    }
};

TEST_F(StalledUploads, OfOneClientLeaveConnectionsToTheOthers) {
    std::vector<Client> stalled;
    for (std::size_t i = 0; i < 2; ++i) stall(stalled.emplace_back(client()));
    ASSERT_TRUE(took(2));
    auto more = client();
    stall(more);
    const auto refusal = more.read();
    EXPECT_EQ(refusal.status, 429u);
    EXPECT_EQ(refusal.cache_status(), "a; detail=over_uploads");
    EXPECT_EQ(refusal.field("Retry-After"), "1");
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::over_uploads], 1u);
    EXPECT_EQ(get("a", "/page").status, 200u) << "its other requests go on";
    auto other = client("a", "127.0.0.77");
    EXPECT_EQ(other.ask("POST", "/other", {}, "whole").status, 200u);
    stalled.pop_back();
    EXPECT_TRUE(eventually([this] {
        return client().ask("POST", "/again", {}, "whole").status == 200;
    })) << "an upload has ended";
}

TEST_F(StalledUploads, CountUntilTheirBodiesHaveCome) {
    Gate gate;
    const auto scripted = origin.set([&gate](Exchange& e) {
        gate.wait();
        e.answer("", "late");
    });
    std::vector<Client> waiting;
    for (std::size_t i = 0; i < 3; ++i) {
        waiting.push_back(client());
        waiting.back().begin("POST", "/slow", {}, "whole");
        ASSERT_TRUE(took(i + 1)) << "only the origin is slow";
    }
    gate.open();
    for (auto& each : waiting) EXPECT_EQ(each.read().status, 200u);
}

}  // namespace early_answers_test
}  // namespace proxy::test
