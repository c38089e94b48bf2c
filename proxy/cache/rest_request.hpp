#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/cache/cache.hpp"
#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/resume_plan.hpp"
#include "proxy/upstream/head_race.hpp"

namespace proxy {

/// What is missing of the body that a job brings, asked of the origin by Range and If-Range: after
/// its sender has gone, or beside one that goes on. Belongs to the coroutine that runs the fetch;
/// its end is the loss of a question that is still under way.
class RestRequest {
public:
    /// Of an answer whose head has come. `etag`: strong, of its version at the origin. Nothing is
    /// asked yet. Precondition: the job's request has an origin.
    RestRequest(Cache& cache, FetchJob& job, std::string_view etag);
    ~RestRequest();
    RestRequest(const RestRequest&) = delete;
    RestRequest& operator=(const RestRequest&) = delete;

    /// Asks beside `sender`, which is abandoned when the origin is about to give the rest. Until
    /// then, and if it does not, the sender goes on.
    void ask_beside(Exchange& sender);
    /// The sender was abandoned for it.
    bool took_over() const { return took_over_; }

    /// Waits for the origin's answer, asking now if that was not done, or was of no use. `none`: it
    /// gives the rest, whose bytes follow what has come behind the first comes_twice() of them.
    boost::asio::awaitable<FetchError> ask();
    Exchange& exchange() { return origin_->exchange; }
    std::uint64_t comes_twice() const { return job_.result.fill->received() - asked_at_; }
    /// How much of the body has come when the rest has.
    std::uint64_t whole() const { return *whole_; }
    /// Of the origin's answer; 0: there was none.
    unsigned status() const;
    /// The origin is not to be asked again before then, by its own word.
    std::optional<std::chrono::steady_clock::time_point> not_before() const;

private:
    bool prepare();
    void judge(Exchange& sender);

    Cache& cache_;
    FetchJob& job_;
    const std::string_view etag_;
    Rest rest_;
    std::uint64_t asked_at_ = 0;  // so much of the body had come
    std::shared_ptr<OriginRunner> origin_;
    std::optional<std::uint64_t> whole_;
    std::optional<std::chrono::steady_clock::time_point> not_before_;  // of an answer of no use
    bool took_over_ = false;
};

}  // namespace proxy
