#include "proxy/request/body_sender.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <limits>
#include <utility>

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

std::uint64_t BodySender::most_of_piece() const {
    const auto left = what_.bytes.value_or(std::numeric_limits<std::uint64_t>::max());
    return share_ ? std::min(left, share_->piece()) : left;
}

bool BodySender::send_now() {
    while (step_ == Step::go_on) {
        piece_ = body_.peek(most_of_piece(), ResponseWriter::kMaxBuffers, writer_.next_piece());
        if (piece_.failed) {
            step_ = Step::broken_off;
            break;
        }
        // For a file, write_now() shortens the piece to the sent bytes. The next peek() looks for
        // the rest again, because it may leave the page cache while the client is slow.
        const auto progress = writer_.write_now(piece_);
        if (progress == ResponseWriter::Progress::unreadable) body_.give_bytes_only();
        if (progress == ResponseWriter::Progress::blocked)
            step_ = Step::blocked;
        else
            piece_sent(true);
    }
    return step_ == Step::done;
}

asio::awaitable<bool> BodySender::run() {
    for (;;) {
        if (send_now()) co_return true;
        if (step_ == Step::blocked) {
            if (what_.stored_as) transaction_.service.cache.shared.store.pin(*what_.stored_as);
            const auto sent = co_await writer_.write_rest(body_.of_fill());
            piece_sent(sent);
        } else if (step_ == Step::paused) {
            co_await asio::post(transaction_.service.executor, asio::use_awaitable);
            turn_bytes_ = 0;
            step_ = Step::go_on;
        } else if (step_ == Step::held) {
            if (what_.stored_as) transaction_.service.cache.shared.store.pin(*what_.stored_as);
            const auto goes_on = co_await transaction_.wait_for_bandwidth();
            if (!goes_on) co_return false;
            turn_bytes_ = 0;
            step_ = Step::go_on;
        } else if (step_ == Step::starved) {
            const auto news = co_await wait_for_more();
            if (news == Transaction::News::client_left) co_return false;
            step_ = news == Transaction::News::late ? Step::broken_off : Step::go_on;
        } else {
            if (step_ == Step::broken_off)
                transaction_.stats.cut_short();
            else
                transaction_.stats.aborted = true;
            co_return false;
        }
    }
}

/// Waits for bytes that have yet to come. The fill learns when the client has taken all others, so
/// that a slower client does not keep this one waiting.
asio::awaitable<Transaction::News> BodySender::wait_for_more() {
    const auto deadline = Clock::now() + kFollowAtMost;
    auto* const reader = body_.of_fill();
    const auto given = writer_.given();
    while (reader && reader->shares_window()) {
        const auto now = Clock::now();
        if (now >= deadline) break;
        if (writer_.taken() >= given) {
            reader->wants_more(now);
            break;
        }
        const auto news = co_await transaction_.wait_for_news(now + kLookForTaken);
        if (news != Transaction::News::late) co_return news;
    }
    const auto news = co_await transaction_.wait_for_news(deadline);
    co_return news;
}

/// Books the bytes that went out, and decides about the next step. `whole`: all of the piece went
/// out; else the client is gone.
void BodySender::piece_sent(bool whole) {
    auto& from = transaction_.stats.from;
    const auto bytes = writer_.body_bytes() - std::exchange(counted_, writer_.body_bytes());
    if (what_.fetched) {
        const auto of_peer = std::min(bytes, piece_.peer_bytes);
        from.add(Source::peer, of_peer);
        from.add(Source::origin, bytes - of_peer);
    } else {
        from.add(what_.stored_in, bytes);
    }
    if (share_) [[unlikely]]
        share_->sent(bytes, Clock::now());
    if (!whole) {
        step_ = Step::client_gone;
        return;
    }
    body_.consume(piece_.bytes);
    if (what_.bytes) *what_.bytes -= piece_.bytes;
    if (what_.bytes ? *what_.bytes == 0 : piece_.end)
        step_ = Step::done;
    else if (piece_.file)
        step_ = go_on_or_pause();
    else if (piece_.end)
        step_ = Step::broken_off;  // shorter than its head has promised
    else
        step_ = piece_.bytes > 0 ? go_on_or_pause() : Step::starved;
}

BodySender::Step BodySender::go_on_or_pause() {
    turn_bytes_ += piece_.bytes;
    if (share_ && share_->has_to_wait(Clock::now())) [[unlikely]]
        return Step::held;
    return turn_bytes_ < kTurnBytes ? Step::go_on : Step::paused;
}

}  // namespace proxy
