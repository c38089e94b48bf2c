#include "proxy/fetch/resume_request.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <optional>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace resume_request_test {

using namespace std::chrono_literals;
using Clock = Store::Clock;

/// A job of which 4 of 10 bytes have come. The origin has no connection left.
class ResumeRequestTest : public ::testing::Test, protected test::IdleCache {
protected:
    ResumeRequestTest() { begin(10); }

    void begin(std::uint64_t length) {
        Fill::Incoming incoming;
        incoming.response = std::make_shared<StoredResponse>();
        incoming.length = length;
        incoming.length_known = true;
        job->result.fill->begin(std::move(incoming));
        job->result.fill->add_block(10, {});
        job->result.fill->append("four");
    }
    const OriginVersion version{"\"1\""};

    FetchError ask(ResumeRequest& rest) {
        std::optional<FetchError> error;
        boost::asio::co_spawn(io, wait(rest, error), boost::asio::detached);
        io.poll();
        return error.value();
    }

private:
    static boost::asio::awaitable<void> wait(ResumeRequest& rest,
                                             std::optional<FetchError>& error) {
        const auto end = co_await rest.ask();
        error = end;
    }
};

TEST_F(ResumeRequestTest, GoesToTheOrigin) {
    ResumeRequest rest(cache, *job, version);
    EXPECT_EQ(ask(rest), FetchError::busy);
    EXPECT_EQ(counters.origin_requests, 1u);
    EXPECT_EQ(rest.status(), 0u) << "there was no response";
    EXPECT_FALSE(rest.not_before());
}

TEST_F(ResumeRequestTest, IsNotSentWhenAllBytesHaveCome) {
    ResumeRequest rest(cache, *job, version);
    job->wanted.block = WantedBlock{{0, 3}, 10, {"\"1\"", "0f"}, job->result.lease.hash()};
    EXPECT_EQ(ask(rest), FetchError::changed);
    EXPECT_EQ(counters.origin_requests, 0u);
}

TEST_F(ResumeRequestTest, BesideASenderLeavesThatAloneUntilTheOriginResponds) {
    Exchange sender(upstream.pool, upstream.head_limits());
    ResumeRequest rest(cache, *job, version);
    rest.ask_beside(sender);
    EXPECT_EQ(counters.origin_hedges, 1u);
    EXPECT_FALSE(rest.took_over());
    io.poll();
    EXPECT_FALSE(rest.took_over()) << "the origin failed";
}

TEST_F(ResumeRequestTest, IsALoserAtItsEnd) {
    Exchange sender(upstream.pool, upstream.head_limits());
    {
        ResumeRequest rest(cache, *job, version);
        rest.ask_beside(sender);
    }
    EXPECT_EQ(counters.origin_hedges_outrun, 1u);
    io.poll();
}

}  // namespace resume_request_test
}  // namespace proxy
