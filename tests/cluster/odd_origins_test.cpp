// Origins that answer each request in a way of its own: through the node a client gets at least as
// much as directly, and one GET is one request (behaviour 15).
#include <atomic>
#include <chrono>
#include <map>
#include <ostream>
#include <thread>

#include "proxy/storage/flow_rate.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace odd_origins_test {

using namespace std::chrono_literals;

constexpr std::size_t kLength = 40'000, kFirst = 10'000, kLast = 29'999;
const std::string kRange = "Range: bytes=10000-29999\r\n";

/// How an origin answers its `n`th request, from 0 on, for a file.
struct Odd {
    const char* name;
    std::function<void(Exchange&, File, unsigned n)> answer;
    unsigned requests_for_whole = 1, requests_for_range = 1;  // through the node
};

void two_servers(Exchange& e, File file, unsigned n) {
    file.etag = n % 2 == 0 ? "\"one\"" : "\"other\"";
    file.answer(e);
}
void a_tag_for_each_part(Exchange& e, File file, unsigned n) {
    if (!e.field("Range").empty()) file.etag = "\"" + std::to_string(n) + "\"";
    file.answer(e);
}
void one_time_url(Exchange& e, File file, unsigned n) {
    if (n > 0) return e.answer("Cache-Control: no-store\r\n", "", "403 Forbidden");
    file.answer(e);
}
void quota(Exchange& e, File file, unsigned n) {
    if (n > 2) return e.answer("Retry-After: 3600\r\n", "", "429 Too Many Requests");
    file.answer(e);
}
void no_ranges(Exchange& e, File file, unsigned) {
    e.answer("ETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + file.more, file.content);
}
void no_ranges_as_it_says(Exchange& e, File file, unsigned) {
    e.answer("ETag: \"v1\"\r\n" + file.more, file.content);
}
void wrong_content_range(Exchange& e, File file, unsigned) {
    if (e.field("Range").empty()) return file.answer(e);
    e.answer("ETag: \"v1\"\r\nContent-Range: bytes 1-20000/40000\r\n" + file.more,
             file.content.substr(kFirst, kLast - kFirst + 1), "206 Partial Content");
}
void breaks_off_once(Exchange& e, File file, unsigned n) {
    if (n > 0) return file.answer(e);
    e.keep = false;
    const auto part = !e.field("Range").empty();
    const auto first = part ? std::strtoull(e.field("Range").c_str() + 6, nullptr, 10) : 0;
    const auto end = part ? 32'768 : kLength;
    auto head = std::string("HTTP/1.1 ") + (part ? "206 Partial Content" : "200 OK") +
                "\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\nCache-Control: max-age=1000\r\n";
    head += "Content-Length: " + std::to_string(end - first) + "\r\n";
    if (part)
        head += "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(end - 1) +
                "/40000\r\n";
    e.send(head + "\r\n" + file.content.substr(first, 15'000 - first));
}
void weak_tag(Exchange& e, File file, unsigned) {
    file.etag = "W/\"v1\"";
    file.answer(e);
}
void multipart(Exchange& e, File file, unsigned) {
    if (e.field("Range").empty()) return file.answer(e);
    e.answer("ETag: \"v1\"\r\nContent-Type: multipart/byteranges; boundary=b\r\n" + file.more,
             "--b\r\nContent-Range: bytes 10000-29999/40000\r\n\r\n" +
                 file.content.substr(kFirst, kLast - kFirst + 1) + "\r\n--b--\r\n",
             "206 Partial Content");
}
void ranges_not_found(Exchange& e, File file, unsigned) {
    if (e.field("Range").empty()) return file.answer(e);
    e.answer("", "", "404 Not Found");
}

const std::vector<Odd> kOdd{
    {"two servers", two_servers},
    {"a tag for each part", a_tag_for_each_part},
    {"a URL for one use", one_time_url},
    {"a quota", quota},
    {"no ranges", no_ranges},
    {"no ranges, as it says", no_ranges_as_it_says},
    {"a wrong Content-Range", wrong_content_range, 1, 2},
    {"breaks off once", breaks_off_once, 3, 3},
    {"a weak tag", weak_tag, 1, 2},
    {"multipart", multipart, 1, 2},
    {"no ranges there", ranges_not_found},
};

class OddOrigins : public NodesTest {
protected:
    Config settings() const {
        auto result = config("a");
        result.cache.block = kBlock;
        result.cache.slice_from = 4 * kBlock;
        return result;
    }
    /// Its requests are counted from 0 again.
    auto serve(const Odd& odd) {
        asked_ = 0;
        return origin.set([this, &odd](Exchange& e) { odd.answer(e, file_, asked_++); });
    }
    Answer direct(std::string_view fields) const {
        Client client("127.0.0.1", origin.port());
        return client.get("/file", fields);
    }
    bool is_whole(const Answer& answer) const {
        return answer.status == 200 && answer.complete && answer.body == file_.content;
    }
    bool is_good(const Answer& answer) const {
        return is_whole(answer) ||
               (answer.status == 206 && answer.complete &&
                contains(answer.body, file_.content.substr(kFirst, kLast - kFirst + 1)));
    }
    unsigned asked() const { return asked_; }

    const File file_{bytes(kLength)};

private:
    std::atomic<unsigned> asked_{0};
};

TEST_F(OddOrigins, GiveAWholeBodyAsTheyDoDirectly) {
    for (const auto& odd : kOdd) {
        auto directly = false;
        {
            const auto scripted = serve(odd);
            directly = is_whole(direct(""));
        }
        const auto scripted = serve(odd);
        start(settings());
        const auto answer = get("a", "/file");
        EXPECT_GE(is_whole(answer), directly) << odd.name << ' ' << answer.body.size();
        EXPECT_EQ(asked(), odd.requests_for_whole) << odd.name;
        kill("a");
    }
}

TEST_F(OddOrigins, GiveAColdRangeAsTheyDoDirectly) {
    for (const auto& odd : kOdd) {
        auto directly = false;
        {
            const auto scripted = serve(odd);
            directly = is_good(direct(kRange));
        }
        const auto scripted = serve(odd);
        start(settings());
        const auto answer = get("a", "/file", kRange);
        EXPECT_GE(is_good(answer), directly)
            << odd.name << ' ' << answer.status << ' ' << answer.body.size();
        EXPECT_EQ(asked(), odd.requests_for_range) << odd.name;
        kill("a");
    }
}

/// The stored part of the first answer leaves the next ones intact.
TEST_F(OddOrigins, GiveWhatComesAfterAsTheyDoDirectly) {
    const std::vector<std::string> asks{kRange, "", "Range: bytes=0-9999\r\n",
                                        kRange, "", "Range: bytes=100-39000\r\n"};
    for (const auto& odd : kOdd) {
        std::vector<bool> directly;
        const auto expected = [&](const std::string& fields, const Answer& answer) {
            if (is_whole(answer)) return true;
            const auto range = field_of("x\r\n" + fields + "\r\n", "Range");
            if (range.empty() || answer.status != 206 || !answer.complete) return false;
            const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
            const auto last = std::strtoull(&range[range.find('-') + 1], nullptr, 10);
            return contains(answer.body, file_.content.substr(first, last - first + 1));
        };
        {
            const auto scripted = serve(odd);
            for (const auto& fields : asks) directly.push_back(expected(fields, direct(fields)));
        }
        const auto scripted = serve(odd);
        start(settings());
        for (std::size_t i = 0; i < asks.size(); ++i) {
            const auto answer = get("a", "/file", asks[i]);
            EXPECT_GE(expected(asks[i], answer), directly[i])
                << odd.name << ' ' << i << ' ' << answer.status << ' ' << answer.body.size();
        }
        kill("a");
    }
}

// The tags of two servers alternate, and the second half of the body is no more to be had.
TEST_F(OddOrigins, AreNotAskedInPartsAfterTwoMismatches) {
    const Odd odd{"a tag for each part", a_tag_for_each_part};
    const auto scripted = serve(odd);
    start(settings());
    for (const auto* range : {"0-99", "10000-10099", "20000-20099"})
        EXPECT_EQ(get("a", "/file", "Range: bytes=" + std::string(range) + "\r\n").status, 206u);
    EXPECT_EQ(asked(), 5u) << "each mismatch costs one more";
    EXPECT_EQ(get("a", "/other", "Range: bytes=10000-10099\r\n").status, 206u);
    EXPECT_EQ(ranges_asked(origin).back(), "bytes=10000-10099") << "as the client wrote it";
}

/// A body that comes slowly, and a range that lies far behind where it has come to.
class RangesAhead : public OddOrigins {
protected:
    /// The first `at_once` bytes of the whole, and then nothing until `gate_` is open.
    auto serve_slowly(std::size_t at_once) {
        return origin.set([this, at_once](Exchange& e) {
            if (!e.field("Range").empty()) return file_.answer(e);
            e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n" + fresh() +
                   "Content-Length: 40000\r\n\r\n" + file_.content.substr(0, at_once));
            gate_.wait();
            e.send(file_.content.substr(at_once));
        });
    }
    void get_far(Config config) {
        const auto scripted = serve_slowly(5000);
        start(std::move(config));
        auto slow = client();
        slow.begin("GET", "/file");
        ASSERT_TRUE(slow.read_at_least(4000));
        const auto far = get("a", "/file", "Range: bytes=30000-30099\r\n");
        EXPECT_EQ(far.status, 206u);
        EXPECT_EQ(far.body, file_.content.substr(30'000, 100));
        EXPECT_EQ(origin.requests(), 2u);
        const auto near = get("a", "/file", "Range: bytes=100-199\r\n");
        EXPECT_EQ(near.body, file_.content.substr(100, 100));
        EXPECT_EQ(origin.requests(), 2u) << "that is here";
        gate_.open();
        EXPECT_EQ(slow.read().body, file_.content);
        EXPECT_EQ(origin.requests(), 2u);
    }

    Gate gate_;
};

TEST_F(RangesAhead, OfABodyInOnePieceDoNotWaitForIt) {  // 19
    get_far(config("a"));
}

TEST_F(RangesAhead, OfABodyInBlocksDoNotWaitForIt) {  // 19
    get_far(settings());
}

TEST_F(RangesAhead, DeepInTheirBlockAreAskedForFromTheirFirstByte) {
    const auto scripted = serve_slowly(100);
    auto large = settings();
    large.cache.block = 16'384;
    start(std::move(large));
    auto slow = client();
    slow.begin("GET", "/file");
    ASSERT_TRUE(slow.read_at_least(50));
    std::this_thread::sleep_for(2 * FlowRate::kKnownAfter);
    const auto far = get("a", "/file", "Range: bytes=39900-39999\r\n");
    EXPECT_EQ(far.status, 206u);
    EXPECT_EQ(far.body, file_.content.substr(39'900));
    EXPECT_EQ(ranges_asked(origin).back(), "bytes=39900-39999") << "not from 32768 on";
    gate_.open();
    EXPECT_EQ(slow.read().body, file_.content);
    EXPECT_EQ(origin.requests(), 2u);
}

/// An origin that speaks HTTP/1.0, and so knows no chunks (RFC 9112 §6.1).
class OriginsOfHttp10 : public NodesTest {
protected:
    auto serve() {
        return origin.set([](Exchange& e) {
            e.keep = false;
            e.send("HTTP/1.0 200 OK\r\n" + fresh("Content-Length: 2\r\n\r\nok"));
        });
    }
    Answer upload(const std::string& body, std::string_view more = {}) const {
        auto uploader = client();
        uploader.socket.send("POST /one HTTP/1.1\r\nHost: origin.test\r\n" + std::string(more) +
                             "Transfer-Encoding: chunked\r\n\r\n" + body);
        return uploader.read();
    }
};

TEST_F(OriginsOfHttp10, AreToldTheLengthOfABodyThatComesInChunks) {
    const auto scripted = serve();
    start(config("a"));
    EXPECT_EQ(get("a", "/any").body, "ok");
    EXPECT_EQ(upload("5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n").body, "ok");
    EXPECT_EQ(field_of(origin.heads().back(), "Content-Length"), "8");
    EXPECT_EQ(field_of(origin.heads().back(), "Transfer-Encoding"), "");
    EXPECT_EQ(upload("0\r\n\r\n").body, "ok");
    EXPECT_EQ(field_of(origin.heads().back(), "Content-Length"), "0");
    EXPECT_EQ(upload("5\r\nhello\r\n0\r\n\r\n", "Expect: 100-continue\r\n").body, "ok");
    EXPECT_EQ(field_of(origin.heads().back(), "Expect"), "") << "the client has its consent";
}

TEST_F(OriginsOfHttp10, GetNoLongBodyWithoutALength) {  // RFC 9110 §15.5.12
    const auto scripted = serve();
    start(config("a"));
    EXPECT_EQ(get("a", "/any").body, "ok");
    const auto before = origin.requests();
    EXPECT_EQ(upload("11000\r\n" + bytes(0x11000) + "\r\n0\r\n\r\n").status, 411u);
    EXPECT_EQ(origin.requests(), before);
    EXPECT_EQ(client().ask("POST", "/one", "", bytes(0x11000)).status, 200u) << "with a length";
}

using EmptyBodies = NodesTest;

TEST_F(EmptyBodies, InChunksLeaveAGetAsItIs) {
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(), "ok"); });
    start(config("a"));
    const auto ask = [&](std::string_view fields, std::string_view body) {
        auto asker = client();
        asker.socket.send("GET /one HTTP/1.1\r\nHost: origin.test\r\n" + std::string(fields) +
                          "Transfer-Encoding: chunked\r\n\r\n" + std::string(body));
        return asker.read();
    };
    EXPECT_EQ(ask("", "0\r\n\r\n").body, "ok");
    EXPECT_TRUE(ask("", "000;a=b\r\nTrailer: x\r\n\r\n").cache_status().starts_with("a; hit"));
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(ask("Cache-Control: no-store\r\n", "0\r\n\r\n").body, "ok");
    EXPECT_EQ(field_of(origin.heads().back(), "Transfer-Encoding"), "");
    EXPECT_EQ(ask("", "2\r\nhi\r\n0\r\n\r\n").body, "ok") << "a body may select the answer";
    EXPECT_EQ(field_of(origin.heads().back(), "Transfer-Encoding"), "chunked");
}

}  // namespace odd_origins_test
}  // namespace proxy::test
