#include "proxy/storage/disk_body_reader.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <future>

#include "proxy/disk/disk_reader.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace disk_body_reader_test {

using namespace std::chrono_literals;
using Cached = test::FaultyCalls::Cached;

constexpr std::uint64_t kSegment = 4 << 20;
constexpr std::size_t kBody = 600'000;  // three slices
constexpr std::string_view kUri = "http://a/";

/// A body of three slices in a segment, left where it stands.
class DiskBodyReaderTest : public testing::Test {
protected:
    DiskBodyReaderTest() {
        calls_.cached = Cached::all;
        segment_ = *create_segment(calls_, directory_.path(), {{1, 1}, kSegment});
        const auto record = test::response(kUri, 1, body_);
        DiskBytes bytes;
        const iovec part = test::part(body_);
        encode_record(record, {&part, 1}, segment_->header.home, bytes);
        body_at_ = kDiskSector + bytes.size();
        bytes.insert(bytes.end(), test::bytes_of(body_).begin(), test::bytes_of(body_).end());
        sectors_ = static_cast<std::uint32_t>((bytes.size() + kDiskSector - 1) / kDiskSector);
        EXPECT_FALSE(segment_->file.write(DiskView(bytes), kDiskSector));
        reader_.emplace(DiskReader::Config{});
    }
    DiskResult<LoadedRecord> load() {
        std::promise<DiskResult<LoadedRecord>> answer;
        EXPECT_TRUE(reader_->read(segment_, {{7, 1}, sectors_}, std::string(kUri),
                                  [&](auto got) { answer.set_value(std::move(got)); }));
        return answer.get_future().get();
    }
    std::shared_ptr<RecordBody> in_place() {
        auto loaded = load();
        EXPECT_TRUE(loaded) << loaded.error();
        EXPECT_TRUE(loaded && loaded->in_place);
        auto place = loaded ? loaded->in_place : nullptr;
        if (place) place->when_spoilt([this](const RecordBody& body) { spoilt_ = body.place(); });
        return place;
    }
    DiskBodyReader reading() { return {in_place(), wakeup_, windows_}; }
    void flip(std::uint64_t offset) {
        const char other = static_cast<char>(~body_[offset]);
        EXPECT_FALSE(segment_->file.write(test::bytes_of({&other, 1}), body_at_ + offset));
    }

    struct Read {
        std::string text;
        bool failed = false;
    };
    static std::string text_of(const std::vector<boost::asio::const_buffer>& buffers) {
        std::string text;
        for (const auto& buffer : buffers)
            text.append(static_cast<const char*>(buffer.data()), buffer.size());
        return text;
    }
    /// All of it as bytes, waiting for the threads where need be.
    Read read_bytes(DiskBodyReader& from, std::uint64_t max_bytes = 1 << 30) {
        Read result;
        for (int rounds = 0; rounds < 10'000; ++rounds) {
            std::vector<boost::asio::const_buffer> buffers;
            const auto piece = from.peek(max_bytes, buffers);
            EXPECT_FALSE(piece.file);
            result.text += text_of(buffers);
            result.failed = piece.failed;
            if (piece.failed || piece.end) return result;
            from.consume(piece.bytes);
            if (piece.bytes == 0) std::this_thread::sleep_for(100us);
        }
        ADD_FAILURE() << "does not come";
        return result;
    }

    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
    SegmentPtr segment_;
    const std::string body_ = test::made_body(3, kBody);
    std::uint64_t body_at_ = 0;
    std::uint32_t sectors_ = 0;
    std::optional<RecordLocation> spoilt_;
    boost::asio::io_context io_;
    std::shared_ptr<base::Wakeup> wakeup_ = std::make_shared<base::Wakeup>(io_.get_executor());
    base::MemoryBudget windows_{64 << 20};
    std::optional<DiskReader> reader_;
};

TEST_F(DiskBodyReaderTest, NamesTheFileForBytesInThePageCache) {
    auto from = reading();
    std::string got;
    for (bool end = false; !end;) {
        std::vector<boost::asio::const_buffer> buffers;
        const auto piece = from.peek(100'000, buffers);
        EXPECT_TRUE(buffers.empty());
        ASSERT_TRUE(piece.file);
        ASSERT_LE(piece.bytes, 100'000u);
        int sockets[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
        const auto sent = piece.file->send_to(sockets[0], piece.file_offset, piece.bytes);
        ASSERT_GT(sent, 0);
        std::string bytes(static_cast<std::size_t>(sent), '\0');
        ASSERT_EQ(::recv(sockets[1], bytes.data(), bytes.size(), MSG_WAITALL), sent);
        got += bytes;
        ::close(sockets[0]), ::close(sockets[1]);
        end = piece.end && static_cast<std::uint64_t>(sent) == piece.bytes;
        from.consume(static_cast<std::uint64_t>(sent));
    }
    EXPECT_EQ(got, body_);
    std::vector<boost::asio::const_buffer> buffers;
    EXPECT_TRUE(from.peek(1, buffers).end);
    EXPECT_EQ(reader_->stats().read_by_threads, 1u) << "by which it was proved";
}

TEST_F(DiskBodyReaderTest, CopiesWhereBytesAreWanted) {
    auto from = reading();
    from.give_bytes_only();
    EXPECT_EQ(read_bytes(from, 70'000).text, body_);
    EXPECT_EQ(reader_->stats().read_by_threads, 1u);
}

TEST_F(DiskBodyReaderTest, LeavesBytesOnTheDeviceToTheThreads) {
    const auto body = in_place();
    calls_.cached = Cached::nothing;
    DiskBodyReader from(body, wakeup_, windows_), part(body, wakeup_, windows_),
        bytes(body, wakeup_, windows_);
    EXPECT_EQ(read_bytes(from).text, body_);
    EXPECT_EQ(reader_->stats().read_by_threads, 4u) << "each slice once";

    part.consume(300'001);
    EXPECT_EQ(read_bytes(part, 1'000).text, body_.substr(300'001)) << "slices are kept";
    EXPECT_EQ(reader_->stats().read_by_threads, 6u);

    // This includes bytes that the system could give at once, because their source is unknown.
    bytes.give_bytes_only();
    EXPECT_EQ(read_bytes(bytes).text, body_);
    EXPECT_EQ(reader_->stats().read_by_threads, 9u);
}

TEST_F(DiskBodyReaderTest, KeepsNoMoreBytesThanItHasRoomFor) {
    const auto body = in_place();
    for (const auto cached : {Cached::nothing, Cached::all}) {
        calls_.cached = cached;
        std::vector<std::unique_ptr<DiskBodyReader>> slow;
        std::vector<boost::asio::const_buffer> buffers;
        std::uint64_t kept = 0;
        windows_.set_cap(2 * 3 * RecordBody::kSliceBytes);
        for (int i = 0; i < 10; ++i) {
            auto& from =
                *slow.emplace_back(std::make_unique<DiskBodyReader>(body, wakeup_, windows_));
            from.give_bytes_only();
            calls_.on_read_now = cached == Cached::nothing ? EAGAIN : 0;
            while (from.peek(1 << 20, buffers).bytes == 0) std::this_thread::sleep_for(100us);
            kept += buffers.back().size();
        }
        EXPECT_EQ(kept, 3 * RecordBody::kSliceBytes + 7 * DiskBodyReader::kUncharged);
        EXPECT_EQ(windows_.used(), 3 * RecordBody::kSliceBytes);
        EXPECT_EQ(read_bytes(*slow.back()).text, body_);
        EXPECT_EQ(read_bytes(*slow.front()).text, body_);
        slow.clear();
        EXPECT_EQ(windows_.used(), 0u);
    }
}

TEST_F(DiskBodyReaderTest, FreesBytesThatTheFileCanSend) {
    calls_.cached = Cached::all;
    auto from = reading();
    calls_.cached = Cached::nothing;
    std::vector<boost::asio::const_buffer> buffers;
    while (from.peek(1 << 20, buffers).bytes == 0) std::this_thread::sleep_for(100us);
    EXPECT_EQ(windows_.used(), RecordBody::kSliceBytes);
    from.consume(RecordBody::kSliceBytes);
    calls_.cached = Cached::all;
    EXPECT_TRUE(from.peek(1 << 20, buffers).file);
    EXPECT_EQ(windows_.used(), 0u);
}

TEST_F(DiskBodyReaderTest, ASliceThatIsLeftOutDoesNotShiftTheNext) {
    auto from = reading();
    calls_.cached = Cached::nothing;
    std::vector<boost::asio::const_buffer> buffers;
    EXPECT_EQ(from.peek(10, buffers).bytes, 0u);  // asks for the first
    from.consume(RecordBody::kSliceBytes);
    EXPECT_EQ(read_bytes(from).text, body_.substr(RecordBody::kSliceBytes));
}

TEST_F(DiskBodyReaderTest, WakesTheWaitingReader) {
    auto from = reading();
    calls_.cached = Cached::nothing;
    std::vector<boost::asio::const_buffer> buffers;
    EXPECT_EQ(from.peek(10, buffers).bytes, 0u);
    (void)from.peek(10, buffers);                     // whether it has come or not
    while (io_.run_one_for(10s) == 0) io_.restart();  // the notice
    EXPECT_EQ(from.peek(10, buffers).bytes, 10u);
    EXPECT_EQ(reader_->stats().read_by_threads, 2u) << "asked for once";
}

TEST_F(DiskBodyReaderTest, ReadsNothingForAReaderThatHasGone) {
    DiskReader::Config config;
    config.threads = 1;
    reader_.emplace(config);
    const auto body = in_place();
    calls_.cached = Cached::nothing;
    std::promise<void> go_on;
    ASSERT_TRUE(reader_->read(segment_, {{7, 1}, sectors_}, std::string(kUri),
                              [&](const auto&) { go_on.get_future().wait(); }));
    {
        DiskBodyReader gone(body, wakeup_, windows_);
        std::vector<boost::asio::const_buffer> buffers;
        EXPECT_EQ(gone.peek(10, buffers).bytes, 0u);
    }
    flip(10);  // which would be noticed
    go_on.set_value();
    DiskBodyReader other(body, wakeup_, windows_);
    other.consume(RecordBody::kSliceBytes);
    EXPECT_EQ(read_bytes(other).text, body_.substr(RecordBody::kSliceBytes));
    EXPECT_FALSE(spoilt_);
}

TEST_F(DiskBodyReaderTest, BytesUnderWayDoNotCountAsCached) {
    DiskReader::Config config;
    config.threads = 1;
    reader_.emplace(config);
    const auto body = in_place();
    std::promise<void> begun, go_on;
    std::atomic<int> reads{0};
    calls_.on_each_read = [&] {
        if (reads++ > 0) return;
        begun.set_value();
        go_on.get_future().wait();
    };
    body->read_slice(body, 0, body, [&](const auto& got) { EXPECT_TRUE(got); });
    begun.get_future().wait();
    EXPECT_FALSE(body->is_cached(0, 10));
    go_on.set_value();
    while (!body->is_cached(0, 10)) std::this_thread::sleep_for(100us);
}

TEST_F(DiskBodyReaderTest, GivesNoBytesWithAWrongChecksum) {
    auto from = reading();
    flip(400'000);
    calls_.cached = Cached::nothing;
    const auto got = read_bytes(from);
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.text, body_.substr(0, RecordBody::kSliceBytes)) << "the slices before";
    EXPECT_EQ(spoilt_, (RecordLocation{7, 1}));
    EXPECT_EQ(reader_->stats().read_failed, 1u);
}

TEST_F(DiskBodyReaderTest, EndsWhereTheFileDoes) {
    auto from = reading();
    std::filesystem::resize_file(segment_->path, body_at_ + 300'000);
    calls_.cached = Cached::nothing;
    const auto got = read_bytes(from);
    EXPECT_TRUE(got.failed);
    EXPECT_EQ(got.text.size(), RecordBody::kSliceBytes);
    EXPECT_TRUE(spoilt_);
}

TEST_F(DiskBodyReaderTest, ReadsOnWhenTheSegmentIsGone) {
    auto from = reading();
    from.give_bytes_only();
    std::filesystem::remove(segment_->path);
    segment_.reset();
    EXPECT_EQ(read_bytes(from).text, body_);
}

TEST_F(DiskBodyReaderTest, FailsWhenTheThreadsEnd) {
    auto from = reading();
    calls_.cached = Cached::nothing;
    calls_.on_read = EIO;
    std::vector<boost::asio::const_buffer> buffers;
    EXPECT_EQ(from.peek(10, buffers).bytes, 0u);
    reader_.reset();
    EXPECT_TRUE(from.peek(10, buffers).failed);
}

TEST_F(DiskBodyReaderTest, AProvedBodyNeedsOnlyItsHead) {
    const DiskReader::RecordRequest unproved{{7, 1}, sectors_}, proved{{7, 1}, sectors_, true};
    EXPECT_FALSE(reader_->read_now(segment_, unproved, kUri)) << "too large for at once";
    const auto got = reader_->read_now(segment_, proved, kUri);
    if (!got) GTEST_SKIP() << "a file system that cannot tell what it has";
    ASSERT_TRUE(*got);
    EXPECT_TRUE((*got)->body.empty());
    EXPECT_EQ((*got)->record.head, test::response(kUri, 1, body_).head);
    ASSERT_TRUE((*got)->in_place);
    EXPECT_EQ((*got)->in_place->place(), (RecordLocation{7, 1}));
    DiskBodyReader from((*got)->in_place, wakeup_, windows_);
    from.give_bytes_only();
    EXPECT_EQ(read_bytes(from).text, body_);
    EXPECT_EQ(reader_->read_now(segment_, proved, "http://b/")->error(), DiskError::other_key);
    EXPECT_FALSE(segment_->file.write(test::bytes_of("?"), body_at_ - 1));  // its head
    EXPECT_FALSE(reader_->read_now(segment_, proved, kUri)) << "the threads will say what is wrong";
}

TEST_F(DiskBodyReaderTest, IsNotMadeWhereTheCacheIsUnknown) {
    calls_.cached = Cached::nothing;
    const auto got = load();
    ASSERT_TRUE(got);
    EXPECT_FALSE(got->in_place);
    EXPECT_EQ(as_text(got->body), body_);
}

}  // namespace disk_body_reader_test
}  // namespace proxy
