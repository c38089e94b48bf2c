// The owner of the blocks of a body: each is stored, and read by others, only as the request that
// fetched it and the head that brought it allow (RFC 9111 §3.5, §4.4, §5.2.2.7).
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace block_owners_test {

const std::string kAuthorized = "Authorization: Basic YWxpY2U=\r\n";
const std::string kCookie = "Cookie: who=alice\r\n";

class BlockOwners : public NodesTest {
protected:
    ~BlockOwners() override {
        pause_.open();
        kill("a");
    }
    Config settings() const {
        auto result = config("a");
        result.cache.block = kBlock;
        result.cache.slice_from = 4 * kBlock;
        return result;
    }
    Answer part(std::string_view range, std::string_view more = {},
                std::string_view target = "/file") const {
        return get("a", target, "Range: bytes=" + std::string(range) + "\r\n" + std::string(more));
    }
    Asked asked() const { return ranges_asked(origin); }
    std::string last_asked() const { return asked().back(); }
    std::uint64_t collapsed() const { return status("a").work.collapsed; }
    /// So many requests have come to the origin, or somebody waits for the result of another fetch.
    bool come_or_joined(std::size_t requests) const {
        return eventually([&] { return origin.requests() >= requests || collapsed() > 0; });
    }
    /// Answers as `file` does, and pauses where the second block is all but over.
    void answer_slowly(Exchange& e, const File& file) {
        const auto range = e.field("Range");
        const auto first = range.empty() ? 0 : std::strtoull(range.c_str() + 6, nullptr, 10);
        auto head = std::string("HTTP/1.1 ") + (range.empty() ? "200 OK" : "206 Partial Content") +
                    "\r\nETag: " + file.etag + "\r\nAccept-Ranges: bytes\r\n" + file.more +
                    "Content-Length: " + std::to_string(kLength - first) + "\r\n";
        if (!range.empty())
            head += "Content-Range: bytes " + std::to_string(first) + "-39999/40000\r\n";
        const auto pause = std::max<std::size_t>(first, kPause);
        e.send(head + "\r\n" + file.content.substr(first, pause - first));
        if (first < kPause) pause_.wait();
        e.send(file.content.substr(pause));
    }

    static constexpr std::size_t kLength = 40'000, kPause = 2 * kBlock - 2;
    /// Two contents under one tag, as an origin may have for known users.
    File open_{bytes(kLength)}, secret_{bytes(kLength, 5)};
    Gate pause_;
};

TEST_F(BlockOwners, ReadAPrivateAnswerAlone) {
    secret_.more = "Cache-Control: private\r\n";
    std::atomic<bool> locked = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!locked) return open_.answer(e);
        if (e.field("Authorization").empty()) return e.answer("", "no", "401 Unauthorized");
        answer_slowly(e, secret_);
    });
    start(settings());
    part("0-9");  // the head and the first block are everybody's
    locked = true;
    auto alice = client(), range = client(), whole = client();
    alice.begin("GET", "/file", kAuthorized);
    ASSERT_TRUE(alice.read_at_least(kBlock + 100));
    range.begin("GET", "/file", "Range: bytes=8192-8201\r\n");
    ASSERT_TRUE(come_or_joined(3));
    whole.begin("GET", "/file");
    ASSERT_TRUE(come_or_joined(4));
    pause_.open();
    EXPECT_EQ(range.read().status, 401u);
    EXPECT_EQ(whole.read().status, 401u);
    EXPECT_EQ(alice.read().body, open_.content.substr(0, kBlock) + secret_.content.substr(kBlock));
    const auto again = part("8192-8201");
    EXPECT_EQ(again.status, 401u) << "nothing of it is stored: " << again.cache_status();
}

TEST_F(BlockOwners, ShareWhatWasAuthorizedOnlyIfItIsPublic) {  // RFC 9111 §3.5
    const auto scripted = origin.set(
        [&](Exchange& e) { (e.field("Authorization").empty() ? open_ : secret_).answer(e); });
    for (const auto is_public : {false, true}) {
        SCOPED_TRACE(is_public);
        secret_.more = open_.more = fresh(is_public ? "Cache-Control: public\r\n" : "");
        start(settings());
        part("0-9");
        const auto alice = get("a", "/file", kAuthorized);
        EXPECT_EQ(alice.body, open_.content.substr(0, kBlock) + secret_.content.substr(kBlock));
        const auto requests = origin.requests();
        const auto& expected = is_public ? secret_ : open_;
        EXPECT_EQ(part("20000-20009").body, expected.content.substr(20'000, 10));
        EXPECT_EQ(origin.requests(), requests + (is_public ? 0 : 1));
        const auto bob = get("a", "/file");
        EXPECT_EQ(bob.body, open_.content.substr(0, kBlock) + expected.content.substr(kBlock));
        kill("a");
    }
}

/// The effect of an invalidation on an answer that is on its way.
class Invalidated : public BlockOwners {
protected:
    /// The first client's answer is under way when `method` comes to its target.
    void invalidate_inside(std::string_view method) {
        std::atomic<unsigned> gets = 0;
        const auto scripted = origin.set([&](Exchange& e) {
            if (e.method != "GET") return e.answer("", "", "204 No Content");
            if (gets++ == 0) return answer_slowly(e, before_);
            after_.answer(e);
        });
        start(settings());
        auto first = client(), range = client(), whole = client();
        first.begin("GET", "/file");
        ASSERT_TRUE(first.read_at_least(kBlock + 100));
        ASSERT_LT(client().ask(method, "/file").status, 300u);
        range.begin("GET", "/file", "Range: bytes=8192-8201\r\n");
        EXPECT_TRUE(eventually([&] { return gets >= 2 || collapsed() > 0; }));
        whole.begin("GET", "/file");
        EXPECT_TRUE(eventually([&] { return gets >= 3 || collapsed() > 0; }));
        if (collapsed() == 0) {
            EXPECT_TRUE(whole.read_at_least(kLength)) << "it waits for nobody";
        }
        pause_.open();
        EXPECT_EQ(range.read().body, after_.content.substr(8192, 10));
        EXPECT_EQ(whole.read().body, after_.content);
        const auto begun_before = first.read();
        EXPECT_TRUE(begun_before.complete);
        EXPECT_EQ(begun_before.body, before_.content) << "one version, though others are stored";
        for (const auto* later : {"0-9", "8192-8201", "39990-39999"})
            EXPECT_EQ(part(later).body,
                      after_.content.substr(std::strtoull(later, nullptr, 10), 10));
        EXPECT_EQ(get("a", "/file").body, after_.content);
        EXPECT_EQ(count("a", Outcome::error), 0u);
    }
    const File before_{bytes(kLength)}, after_{bytes(kLength, 9)};  // under the same tag
};

TEST_F(Invalidated, ByAPurgeItGoesToWhoAskedBefore) {
    invalidate_inside("PURGE");
}

TEST_F(Invalidated, ByAWriteItGoesToWhoAskedBefore) {  // RFC 9111 §4.4
    invalidate_inside("POST");
}

TEST_F(BlockOwners, HaveNoBlocksWhereTheBodyMayBeForOneClient) {
    open_.more = secret_.more = "";  // and no lifetime
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("Cookie").empty()) return answer_slowly(e, secret_);
        if (e.field("If-None-Match").empty()) return open_.answer(e);
        e.answer("ETag: \"v1\"\r\n", open_.content);  // the tag does not tell the two apart
    });
    start(settings());
    auto alice = client(), range = client(), whole = client();
    alice.begin("GET", "/file", kCookie);
    ASSERT_TRUE(alice.read_at_least(kBlock + 100));
    EXPECT_EQ(status("a").cache.objects, 0u) << "neither the first block nor a head";
    range.begin("GET", "/file", "Range: bytes=8192-8201\r\n");
    whole.begin("GET", "/file");
    EXPECT_TRUE(eventually([&] { return origin.requests() >= 3 || collapsed() > 1; }));
    pause_.open();
    EXPECT_EQ(alice.read().body, secret_.content);
    EXPECT_EQ(range.read().body, open_.content.substr(8192, 10));
    EXPECT_EQ(whole.read().body, open_.content);
    EXPECT_EQ(part("20000-20009").body, open_.content.substr(20'000, 10));
}

/// An origin that refuses some requests for parts, and the requests that learn of it.
class RefusedParts : public BlockOwners {
protected:
    /// It is as if nobody had been refused anything.
    void expect_all_is_as_before() {
        const auto requests = origin.requests();
        const auto again = part("0-8191");
        EXPECT_EQ(again.body, open_.content.substr(0, 8192));
        EXPECT_TRUE(again.cache_status().starts_with("a; hit")) << again.cache_status();
        EXPECT_EQ(origin.requests(), requests) << "what is stored stays";
        EXPECT_EQ(part("30000-30009").body, open_.content.substr(30'000, 10));
        EXPECT_EQ(last_asked(), "bytes=28672-32767") << "that path is asked for block by block";
        expect_folder_in_blocks();
    }
    void expect_folder_in_blocks() {
        part("0-9", "", "/other");
        EXPECT_EQ(last_asked(), "bytes=0-4095");
        EXPECT_TRUE(part("20-29", "", "/other").cache_status().starts_with("a; hit"));
    }
};

TEST_F(RefusedParts, ToWhoSaysWhoItIsAreNobodyElsesAffair) {
    struct Case {
        std::string fields;
        const char* status;
    };
    for (const auto& refused :
         {Case{kAuthorized, "403 Forbidden"}, Case{kAuthorized, "401 Unauthorized"},
          Case{kCookie, "403 Forbidden"}, Case{kCookie, "404 Not Found"}}) {
        SCOPED_TRACE(refused.fields + refused.status);
        const auto scripted = origin.set([&](Exchange& e) {
            const auto known = !e.field("Authorization").empty() || !e.field("Cookie").empty();
            if (known) return e.answer("", "not for you", refused.status);
            open_.answer(e);
        });
        start(settings());
        part("0-8191");
        const auto status = static_cast<unsigned>(std::atoi(refused.status));
        EXPECT_EQ(part("8192-", refused.fields).status, status);
        EXPECT_EQ(get("a", "/file", refused.fields).status, status);
        expect_all_is_as_before();
        EXPECT_EQ(get("a", "/file").body, open_.content);
        kill("a");
    }
}

TEST_F(RefusedParts, RefusalsWithoutCredentialsConcernOnePathAndDropNothing) {
    std::atomic<bool> refuses = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (refuses && e.target == "/file") return e.answer("", "", "403 Forbidden");
        open_.answer(e);
    });
    start(settings());
    part("0-8191");
    refuses = true;
    EXPECT_EQ(part("8192-").status, 403u);
    const auto requests = origin.requests();
    EXPECT_TRUE(part("0-8191").cache_status().starts_with("a; hit"));
    EXPECT_EQ(origin.requests(), requests);
    expect_folder_in_blocks();
}

TEST_F(RefusedParts, ByAQuotaMayPass) {  // RFC 6585 §4
    std::atomic<unsigned> left = 1;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Range").starts_with("bytes=8192-") && left > 0) {
            --left;
            return e.answer("", "", "429 Too Many Requests");
        }
        open_.answer(e);
    });
    start(settings());
    part("0-8191");
    EXPECT_EQ(get("a", "/file").body, open_.content);
    EXPECT_EQ(left, 0u);
    expect_folder_in_blocks();
    EXPECT_TRUE(part("30000-30009").cache_status().starts_with("a; hit")) << "its blocks, too";
}

}  // namespace block_owners_test
}  // namespace proxy::test
