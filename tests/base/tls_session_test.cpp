#include "base/tls/tls_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/tls/psk_context.hpp"
#include "tests/base/psks.hpp"
#include "tests/base/tls_pair.hpp"

namespace base::test {
namespace tls_session_test {

namespace asio = boost::asio;
using Step = TlsSession::Step;

/// Bytes that TLS 1.3 with AES-GCM adds to a record.
constexpr std::size_t kRecordFrame = 22;

class Tls : public ::testing::Test {
protected:
    void SetUp() override {
        pair_.shake_hands();
        ASSERT_TRUE(pair_.agreed());
    }

    /// The bytes that the client reads now, at most `most`.
    std::string read(std::size_t most) {
        std::string bytes(most, '\0');
        std::size_t got = 0;
        last_ = pair_.at_client->read(asio::buffer(bytes), got);
        bytes.resize(got);
        return bytes;
    }
    /// The socket of the server takes little.
    void narrow() { pair_.accepted.set_option(asio::socket_base::send_buffer_size(4096)); }
    std::size_t write(std::span<const asio::const_buffer> from, std::size_t most) {
        std::size_t sent = 0;
        last_ = pair_.at_server->write(from, most, sent);
        return sent;
    }
    /// Writes until the socket takes no more. Returns how many bytes of `text` have gone.
    std::size_t fill(const std::string& text, std::size_t most) {
        for (std::size_t sent = 0;;) {
            const auto rest = asio::buffer(text) + sent;
            sent += write(std::span(&rest, 1), most);
            if (last_ != Step::done || sent == text.size()) return sent;
        }
    }

    PskContext context_{keys_of({"a cluster key of the tests, 32 bytes and more"})};
    TlsPair pair_{context_.server(), context_.client()};
    Step last_ = Step::done;
};

std::string some_text(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    return text;
}

TEST_F(Tls, SmallBuffersShareARecord) {
    const std::string parts[] = {"a head", "", " and", " a body"};
    std::vector<asio::const_buffer> buffers;
    for (const auto& part : parts) buffers.push_back(asio::buffer(part));
    EXPECT_EQ(write(buffers, kTlsBatch), 17u);
    EXPECT_EQ(last_, Step::done);
    EXPECT_EQ(pair_.dialled.available(), 17 + kRecordFrame);
    EXPECT_EQ(read(100), "a head and a body");
}

TEST_F(Tls, ABatchHasFullRecords) {
    constexpr std::size_t kRecords = 2;
    const auto text = some_text(kRecords * kTlsRecord);
    const asio::const_buffer buffers[] = {asio::buffer(text, 100), asio::buffer(text) + 100};
    std::size_t sent = 0;
    while (sent < text.size()) {
        std::vector<asio::const_buffer> rest;
        std::size_t skip = sent;
        for (const auto& each : buffers) {
            if (skip < each.size()) rest.push_back(each + skip);
            skip -= std::min(skip, each.size());
        }
        sent += write(rest, kTlsBatch);
        ASSERT_NE(last_, Step::failed);
    }
    EXPECT_EQ(sent, text.size());
    EXPECT_EQ(pair_.dialled.available(), text.size() + kRecords * kRecordFrame);
}

TEST_F(Tls, NothingIsWrittenOfEmptyBuffers) {
    const asio::const_buffer nothing[2];
    EXPECT_EQ(write(nothing, kTlsBatch), 0u);
    EXPECT_EQ(last_, Step::done);
    EXPECT_EQ(pair_.dialled.available(), 0u);
}

TEST_F(Tls, ASlowReaderGetsAllBytesInOrder) {
    narrow();
    std::mt19937 random(20261127);
    const auto text = some_text(1'000'000);
    std::string heard;
    std::size_t sent = 0, waits_met = 0;
    while (heard.size() < text.size()) {
        // The same bytes, in other buffers each time.
        std::vector<asio::const_buffer> rest;
        for (auto at = sent; at < text.size() && rest.size() < 5;) {
            const auto bytes = std::min<std::size_t>(text.size() - at, 1 + random() % 40'000);
            rest.push_back(asio::buffer(text.data() + at, bytes));
            at += bytes;
        }
        if (!rest.empty()) sent += write(rest, random() % 2 == 0 ? kTlsBatch : kTlsRecord);
        ASSERT_NE(last_, Step::failed);
        waits_met += waits(last_) ? 1 : 0;
        ASSERT_LE(sent, text.size());
        heard += read(1 + random() % 30'000);
        ASSERT_NE(last_, Step::failed);
    }
    EXPECT_EQ(sent, text.size());
    EXPECT_TRUE(heard == text);
    EXPECT_GT(waits_met, 0u);
}

TEST_F(Tls, AnEndDoesNotOvertakeAWriteThatWaits) {
    narrow();
    const auto text = some_text(4'000'000);
    const auto sent = fill(text, kTlsBatch);
    EXPECT_EQ(last_, Step::wait_write);
    EXPECT_LT(sent, text.size());
    // The end does not overtake the bytes that wait. The last record has gone in part only.
    pair_.at_server->close_notify();
    std::string heard;
    while (heard.size() + 2 * kTlsRecord < sent) {
        heard += read(100'000);
        ASSERT_NE(last_, Step::end);
        ASSERT_NE(last_, Step::failed);
    }
    EXPECT_TRUE(heard == text.substr(0, heard.size()));
}

TEST_F(Tls, AReaderThatHasLeftFailsAWriteThatWaits) {
    narrow();
    const auto text = some_text(4'000'000);
    const auto sent = fill(text, kTlsBatch);
    ASSERT_EQ(last_, Step::wait_write);
    pair_.dialled.set_option(asio::socket_base::linger(true, 0));
    pair_.dialled.close();
    fill(text.substr(sent), kTlsBatch);
    EXPECT_EQ(last_, Step::failed);
    EXPECT_TRUE(pair_.at_server->was_cut());
    EXPECT_FALSE(pair_.at_server->why().empty());
}

/// CVE-2024-4741: the head of a record has been read, and its rest has not.
TEST(TlsBuffers, StayWhileTheyHaveAPartOfARecord) {
    const PskContext context(keys_of({"a cluster key of the tests, 32 bytes and more"}));
    // A server and a client on connections of their own; the test passes the bytes on.
    TlsPair left(context.server(), context.client()), right(context.server(), context.client());
    auto& server = *left.at_server;
    auto& client = *right.at_client;
    const auto pass = [](asio::ip::tcp::socket& from, asio::ip::tcp::socket& to) {
        std::string bytes(from.available(), '\0');
        asio::read(from, asio::buffer(bytes));
        asio::write(to, asio::buffer(bytes));
    };
    for (auto ended = false; !ended;) {
        const auto at_client = client.handshake();
        pass(right.accepted, left.dialled);
        const auto at_server = server.handshake();
        pass(left.dialled, right.accepted);
        ended = at_client == Step::done && at_server == Step::done;
        ASSERT_TRUE(at_client != Step::failed && at_server != Step::failed);
    }
    right.accepted.set_option(asio::ip::tcp::no_delay(true));
    client.keep_buffers();
    const std::string said = "something";
    for (std::size_t cut = 1; cut < said.size() + kRecordFrame; ++cut) {
        std::size_t sent = 0;
        ASSERT_EQ(server.write(asio::buffer(said), sent), Step::done);
        std::string record(said.size() + kRecordFrame, '\0');
        asio::read(left.dialled, asio::buffer(record));
        asio::write(right.accepted, asio::buffer(record, cut));
        std::string heard(100, '\0');
        std::size_t got = 0;
        EXPECT_EQ(client.read(asio::buffer(heard), got), Step::wait_read);
        client.free_buffers();
        asio::write(right.accepted, asio::buffer(record) + cut);
        auto step = Step::wait_read;
        for (int i = 0; i < 1000 && waits(step); ++i) step = client.read(asio::buffer(heard), got);
        ASSERT_EQ(step, Step::done) << client.why();
        EXPECT_EQ(heard.substr(0, got), said);
        client.free_buffers();
    }
}

}  // namespace tls_session_test
}  // namespace base::test
