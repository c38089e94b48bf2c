#include "proxy/client/http2_body_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/memory/kept_memory.hpp"
#include "proxy/client/http2_limits.hpp"

namespace proxy {

void Http2BodyQueue::clear() {
    drop_kept();
    drop_views();
}

void Http2BodyQueue::drop_views() {
    views_.clear();
    views_bytes_ = 0;
}

void Http2BodyQueue::drop_kept() {
    small_.clear();
    small_sent_ = 0;
}

bool Http2BodyQueue::take_views(std::uint64_t bytes) {
    if (small_sent_ == small_.size()) drop_kept();
    const auto fits = small_.size() + bytes <= kHttp2SmallBody;
    if (!fits) {
        views_bytes_ = bytes;
        return false;
    }
    for (const auto& view : views_)
        small_.append(static_cast<const char*>(view.data()), view.size());
    views_.clear();
    return true;
}

std::size_t Http2BodyQueue::keep(boost::asio::const_buffer from, std::size_t most) {
    small_.erase(0, std::exchange(small_sent_, 0));
    const auto bytes = std::min(from.size(), most - small_.size());
    small_.append(static_cast<const char*>(from.data()), bytes);
    return bytes;
}

std::size_t Http2BodyQueue::move_to(std::string& out, std::size_t bytes) {
    const auto small = std::min(bytes, kept_bytes());
    out.append(small_, small_sent_, small);
    small_sent_ += small;
    const auto viewed = bytes - small;
    views_bytes_ -= viewed;
    auto rest = viewed;
    auto view = views_.begin();
    while (rest > 0) {
        const auto part = std::min(rest, view->size());
        out.append(static_cast<const char*>(view->data()), part);
        *view += part;
        rest -= part;
        if (view->size() == 0) ++view;
    }
    if (view != views_.begin()) views_.erase(views_.begin(), view);
    return viewed;
}

std::size_t Http2BodyQueue::capacity() const {
    return base::kept_bytes(small_) + base::kept_bytes(views_);
}

void Http2BodyQueue::give_back() {
    base::give_back(small_);
    base::give_back(views_);
}

}  // namespace proxy
