#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/resume_plan.hpp"
#include "proxy/upstream/hedged_fetch.hpp"

namespace proxy {

/// The request for the missing rest of a job's body, sent to the origin with Range and If-Range. It
/// goes out after the sender of the body has gone, or beside a slow one. Belongs to the coroutine
/// that runs the fetch. Its end makes a loser of a request under way.
class ResumeRequest {
public:
    /// For a response whose head has come. `version`: outlives this. Sends nothing yet.
    /// Precondition: the job's request has an origin.
    ResumeRequest(Cache& cache, FetchJob& job, const OriginVersion& version);
    ~ResumeRequest();
    ResumeRequest(const ResumeRequest&) = delete;
    ResumeRequest& operator=(const ResumeRequest&) = delete;

    /// Sends the request beside `sender`, and abandons that when the origin is about to give the
    /// rest. Otherwise the sender goes on.
    void ask_beside(Exchange& sender);
    /// The request is to ask for the blocks behind the wanted one, too, up to WantedBlock::up_to.
    /// False: it is under way already.
    bool ask_on() { return asks_on_ = origin_ == nullptr; }
    bool asks_on() const { return asks_on_; }
    /// The sender was abandoned for it.
    bool took_over() const { return took_over_; }

    /// Waits for the origin's response, and sends the request if there is none of use under way.
    /// `none`: the origin gives the rest. Its first comes_twice() bytes are there already.
    boost::asio::awaitable<FetchError> ask();
    Exchange& exchange() { return origin_->response(); }
    std::uint64_t comes_twice() const {
        return rest_.begins + job_.result.fill->received() - rest_given_->first;
    }
    /// The length of the body, or of the block, once the rest has come.
    std::uint64_t whole() const { return rest_given_->end; }
    /// The response has more than that.
    bool goes_on() const { return rest_given_->goes_on; }
    /// Of the origin's response; null: there was none.
    const Head* head() const;
    unsigned status() const { return head() ? head()->status : 0; }
    /// After ask(): the origin gives this part of the body behind the block.
    const std::optional<ByteRange>& behind() const { return rest_given_->behind; }
    /// Gives up the response, with behind() still to be read.
    std::shared_ptr<OriginAttempt> release() { return std::exchange(origin_, nullptr); }
    /// The origin's Retry-After.
    std::optional<std::chrono::steady_clock::time_point> not_before() const;

private:
    bool prepare();
    void judge(Exchange& sender);

    Cache& cache_;
    FetchJob& job_;
    const OriginVersion& version_;
    BodyRemainder rest_;
    std::uint64_t received_when_sent_ = 0;  // bytes of the body
    std::shared_ptr<OriginAttempt> origin_;
    std::optional<Continuation> rest_given_;
    std::optional<std::chrono::steady_clock::time_point> not_before_;  // of a useless response
    bool took_over_ = false;
    bool asks_on_ = false;
};

}  // namespace proxy
