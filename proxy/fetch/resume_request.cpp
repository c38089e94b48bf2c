#include "proxy/fetch/resume_request.hpp"

#include "proxy/fetch/peer_response_pace.hpp"
#include "proxy/http/redirects.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

ResumeRequest::ResumeRequest(Cache& cache, FetchJob& job, const OriginVersion& version)
    : cache_(cache), job_(job), version_(version) {}

ResumeRequest::~ResumeRequest() {
    if (!origin_) return;
    origin_->on_end = nullptr;
    origin_->lose();
}

/// False: all bytes came, but the sender did not end the body, so there is no rest.
bool ResumeRequest::prepare() {
    const auto incoming = job_.result.fill->state().incoming;
    const auto& block = job_.wanted.block;
    received_when_sent_ = job_.result.fill->received();
    rest_ = rest_of(version_.etag, received_when_sent_,
                    block ? std::optional(block->range) : std::nullopt,
                    block                   ? std::optional(block->length)
                    : incoming.length_known ? std::optional(incoming.length)
                                            : std::nullopt);
    if (rest_.last && rest_.first > *rest_.last) return false;
    if (asks_on_) rest_.up_to = block->up_to;
    AddedLines added{{}, {}, version_.server, true};
    added.source =
        block ? block->version.source : std::string(source_of(incoming.response->fields()));
    const auto last = rest_.up_to ? rest_.up_to : rest_.last;
    append_range_request(added.text, rest_.first, last, version_.etag);
    origin_ = std::make_shared<OriginAttempt>(cache_.upstream, job_.wanted.request, false,
                                              std::move(added));
    return true;
}

void ResumeRequest::ask_beside(Exchange& sender) {
    if (!prepare()) return;
    HedgedFetch race(cache_.upstream, job_.result.wakeup);
    if (!origin_->permit.allowed() || !race.start(origin_)) return origin_.reset();
    origin_->on_end = [this, &sender] { judge(sender); };
}

/// The origin has responded while the sender goes on. A useless response is dropped at once: its
/// bytes would wait unread for as long as the sender takes.
void ResumeRequest::judge(Exchange& sender) {
    const auto answered = origin_->result == FetchError::none;
    // A 200 begins with the bytes that the sender has given already.
    took_over_ = answered && origin_->response().head().status == 206 &&
                 goes_on_with(rest_, origin_->response().head()) &&
                 may_take_over(received_when_sent_, job_.result.fill->received());
    if (took_over_) return sender.abandon();
    if (answered) not_before_ = origin_->response().not_before();
    origin_->lose();
    origin_.reset();
}

asio::awaitable<FetchError> ResumeRequest::ask() {
    if (!origin_) {
        if (not_before_ && Clock::now() < *not_before_) co_return FetchError::origin_error;
        if (!prepare()) co_return FetchError::changed;
        const auto ended = co_await origin_->run();
        origin_->result = ended;
    }
    origin_->on_end = nullptr;
    const auto& timeouts = job_.wanted.request->config().timeouts;
    const auto latest = Clock::now() + timeouts.origin_connect + timeouts.origin_head;
    while (!origin_->result) {
        if (!job_.result.fill->wanted()) co_return FetchError::abandoned;
        if (Clock::now() >= latest) co_return FetchError::head_timeout;
        co_await job_.result.wakeup->wait_until(latest);
    }
    origin_->take();
    if (*origin_->result != FetchError::none) co_return *origin_->result;
    const auto& head = origin_->response().head();
    rest_given_ = goes_on_with(rest_, head);
    co_return (rest_given_ ? FetchError::none
                           : why_not_that(head, identifies_user(job_.wanted.request->fields)));
}

const Head* ResumeRequest::head() const {
    const auto is_there = origin_ && origin_->result == FetchError::none;
    return is_there ? &origin_->response().head() : nullptr;
}

std::optional<Clock::time_point> ResumeRequest::not_before() const {
    if (!origin_) return not_before_;
    if (origin_->result != FetchError::none) return std::nullopt;
    return origin_->response().not_before();
}

}  // namespace proxy
