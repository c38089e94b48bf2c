#include "proxy/client/http2_body.hpp"

#include <utility>

#include "proxy/client/frontend.hpp"
#include "proxy/client/http2_limits.hpp"
#include "proxy/http/kept_memory.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

void Http2Body::begin(std::int32_t stream, std::optional<std::uint64_t> length, bool ended) {
    stream_ = stream;
    length_ = length;
    open_ = !length && !ended;
    ended_ = ended;
    closed_ = waiting_ = interrupted_ = widened_ = tunnel_ = false;
    come_.clear();
    given_.clear();
    received_ = 0;
    giving_.begin();
}

void Http2Body::put(std::string_view bytes) {
    come_.append(bytes);
    received_ += static_cast<std::int64_t>(bytes.size());
    // A body that fills its first window gets a wider one if there is room for it.
    if (!widened_ && received_ >= static_cast<std::int64_t>(kHttp2FirstWindow / 2)) {
        widened_ = true;
        auto room = read_ahead(frontend_.cache.shared.windows, kHttp2WideWindow);
        if (room) {
            room_ = std::move(*room);
            windows_.widen(stream_, kHttp2WideWindow);
        }
    }
    wakeup_->notify();
}

void Http2Body::end() {
    ended_ = true;
    wakeup_->notify();
}

void Http2Body::close() {
    closed_ = true;
    room_ = Charge();
}

bool Http2Body::take(std::vector<std::string_view>& pieces) {
    given_.clear();
    given_.swap(come_);
    if (given_.empty()) return true;
    pieces.emplace_back(given_);
    if (!closed_) windows_.taken(stream_, given_.size());
    return true;
}

std::size_t Http2Body::read(asio::mutable_buffer into) {
    const auto bytes = asio::buffer_copy(into, asio::buffer(come_));
    come_.erase(0, bytes);
    if (bytes > 0 && !closed_) windows_.taken(stream_, bytes);
    return bytes;
}

asio::awaitable<bool> Http2Body::receive_more() {
    interrupted_ = false;
    for (;;) {
        if (!come_.empty() || ended_) co_return true;
        if (closed_ || interrupted_) co_return false;
        const auto& config = frontend_.config();
        const auto window = config.timeouts.body_idle;
        const auto until = giving_.wait(Clock::now(), received_, window);
        waiting_ = true;
        co_await wakeup_->wait_until(until);
        waiting_ = false;
        if (!giving_.fast_enough(Clock::now(), window,
                                 least_bytes(config.limits.client_rate_min, window),
                                 [this] { return received_; }))
            co_return false;
    }
}

void Http2Body::interrupt() {
    if (!waiting_) return;
    interrupted_ = true;
    wakeup_->notify();
}

void Http2Body::give_back() {
    proxy::give_back(come_);
    proxy::give_back(given_);
}

}  // namespace proxy
