#include "proxy/client/http2_body.hpp"

#include <utility>

#include "base/memory/kept_memory.hpp"
#include "proxy/client/http2_limits.hpp"
#include "proxy/request/client_service.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

void Http2Body::begin(std::int32_t stream, std::optional<std::uint64_t> length, bool ended) {
    stream_ = stream;
    length_ = length;
    extent_ = length || ended ? Extent::stated : Extent::open;
    arrival_ = ended ? Arrival::whole : Arrival::under_way;
    wait_ = Wait::none;
    closed_ = dropping_ = false;
    finish();
    received_ = 0;
    giving_.begin();
}

void Http2Body::put(std::string_view bytes) {
    if (arrival_ == Arrival::refused) return;
    const auto before = received_;
    received_ += static_cast<std::int64_t>(bytes.size());
    if (dropping_) return windows_.taken(stream_, bytes.size());
    come_.append(bytes);
    constexpr auto kMayBeLong = static_cast<std::int64_t>(kHttp2FreeBytes / 2);
    if (before < kMayBeLong && received_ >= kMayBeLong) widen();
    if (held() > kHttp2FreeBytes && !find_room()) refuse();
    wakeup_->notify();
}

/// A body that may be long gets a wider window if there is room for it.
void Http2Body::widen() {
    auto room = base::read_ahead(service_.cache.shared.windows, kHttp2WideWindow);
    if (!room) return;
    room_ = std::move(*room);
    windows_.widen(stream_, kHttp2WideWindow);
}

/// The client may send kHttp2FirstWindow bytes in any case.
bool Http2Body::find_room() {
    if (room_.bytes() > 0) return true;
    constexpr auto kRest = kHttp2FirstWindow - kHttp2FreeBytes;
    auto& windows = service_.cache.shared.windows;
    if (!windows.take(kRest)) return false;
    room_ = base::Charge(windows, kRest);
    return true;
}

void Http2Body::refuse() {
    arrival_ = Arrival::refused;
    come_ = std::string();
    windows_.refuse(stream_);
}

void Http2Body::end() {
    if (arrival_ == Arrival::refused) return;  // what is left of it is no whole body
    arrival_ = Arrival::whole;
    wakeup_->notify();
}

void Http2Body::close() {
    closed_ = true;
}

void Http2Body::drop() {
    dropping_ = true;
    const auto bytes = held();
    finish();
    if (bytes > 0) windows_.taken(stream_, bytes);
}

void Http2Body::finish() {
    come_.clear();
    given_.clear();
    room_ = base::Charge();
}

/// The bytes that take() has given are of no use any more.
void Http2Body::let_go() {
    if (!given_.empty() && !closed_) windows_.taken(stream_, given_.size());
    given_.clear();
}

bool Http2Body::take(std::vector<std::string_view>& pieces) {
    let_go();
    given_.swap(come_);
    if (!given_.empty()) pieces.emplace_back(given_);
    return true;
}

std::size_t Http2Body::read(asio::mutable_buffer into) {
    const auto bytes = asio::buffer_copy(into, asio::buffer(come_));
    come_.erase(0, bytes);
    if (bytes > 0 && !closed_) windows_.taken(stream_, bytes);
    return bytes;
}

asio::awaitable<bool> Http2Body::receive_more() {
    wait_ = Wait::none;
    let_go();
    for (;;) {
        if (arrival_ == Arrival::refused) co_return false;
        if (!come_.empty() || is_whole()) co_return true;
        if (closed_ || wait_ == Wait::interrupted) co_return false;
        const auto& config = service_.config();
        const auto window = config.timeouts.body_idle;
        const auto until = giving_.wait(Clock::now(), received_, window);
        wait_ = Wait::waiting;
        co_await wakeup_->wait_until(until);
        if (wait_ == Wait::waiting) wait_ = Wait::none;
        if (!giving_.fast_enough(Clock::now(), window,
                                 base::least_bytes(config.limits.client_rate_min, window),
                                 [this] { return received_; }))
            co_return false;
    }
}

void Http2Body::interrupt() {
    if (wait_ != Wait::waiting) return;
    wait_ = Wait::interrupted;
    wakeup_->notify();
}

void Http2Body::give_back() {
    base::give_back(come_);
    base::give_back(given_);
}

}  // namespace proxy
