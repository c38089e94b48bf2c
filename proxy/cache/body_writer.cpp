#include "proxy/cache/body_writer.hpp"

#include <algorithm>
#include <utility>

namespace proxy {

void BodyWriter::begin(Fill::Answer answer) {
    verdict_ = answer.verdict;
    if (answer.shared) response_ = answer.response;
    fill_.begin(std::move(answer));
}

bool BodyWriter::grow(std::uint64_t exact, Clock::time_point now) {
    if (!storing()) return false;
    if (fill_.received() >= object_max_) {
        stop_storing(StorageVerdict::too_large);
        return false;
    }
    auto bytes = fill_.next_block_bytes();
    if (exact > 0)
        bytes = std::min<std::size_t>(bytes, std::min<std::uint64_t>(exact, kBodyBlockBytes));
    auto charge = store_.reserve(bytes, now);
    if (!charge) {
        stop_storing(StorageVerdict::no_room);
        return false;
    }
    fill_.add_block(bytes, std::move(*charge));
    return true;
}

void BodyWriter::keep(std::string_view data, Clock::time_point now) {
    while (storing() && !data.empty()) {
        if (room() == 0 && !grow(0, now)) return;
        const auto n = std::min(data.size(), room());
        append(data.substr(0, n));
        data.remove_prefix(n);
    }
}

StorageVerdict BodyWriter::finish(Clock::time_point now) {
    auto stored = false;
    if (storing()) {
        stored = claim_.publish(std::exchange(response_, nullptr), now);
        if (!stored) verdict_ = StorageVerdict::invalidated;
    } else {
        claim_.abandon(false, now);
    }
    // Only now: whoever sees the end may say that it is stored.
    fill_.complete(stored);
    return verdict_;
}

void BodyWriter::stop_storing(StorageVerdict why) {
    response_.reset();
    verdict_ = why;
    fill_.stop_sharing();
}

}  // namespace proxy
