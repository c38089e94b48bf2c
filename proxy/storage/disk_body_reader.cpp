#include "proxy/storage/disk_body_reader.hpp"

#include <algorithm>

namespace proxy {

BodyPiece DiskBodyReader::peek(std::uint64_t max_bytes,
                               std::vector<boost::asio::const_buffer>& out) {
    BodyPiece piece;
    const auto size = body_->size();
    if (max_bytes == 0 || offset_ >= size) {
        piece.end = offset_ >= size;
        return piece;
    }
    if (reading_ && !have(offset_)) {
        const auto came = take();
        piece.failed = came == Came::failed;
        if (came != Came::yes) return piece;
    }
    const auto in_slice = std::min(max_bytes, body_->slice_at(offset_).end - offset_);
    if (!have(offset_)) {
        if (!bytes_only_ && body_->is_cached(offset_, in_slice)) {
            let_go();
            piece.file = body_.get();
            piece.file_offset = offset_;
            piece.bytes = in_slice;
            piece.end = offset_ + in_slice == size;
            return piece;
        }
        if (!bytes_only_ || !read_now(in_slice)) {
            ask();
            return piece;
        }
    }
    const auto from = offset_ - bytes_at_;
    piece.bytes = std::min<std::uint64_t>(max_bytes, bytes_.size() - from);
    out.emplace_back(bytes_.data() + from, piece.bytes);
    piece.end = offset_ + piece.bytes == size;
    return piece;
}

/// Charges so many bytes. Returns the number of bytes that may be kept.
std::uint64_t DiskBodyReader::make_room(std::uint64_t bytes) {
    if (charge_.bytes() >= bytes) return bytes;
    charge_ = base::Charge();
    auto room = base::read_ahead(windows_, bytes);
    if (!room) return std::min(bytes, kUncharged);
    charge_ = std::move(*room);
    return bytes;
}

bool DiskBodyReader::read_now(std::uint64_t bytes) {
    bytes = make_room(bytes);
    if (bytes_.capacity() > std::max(charge_.bytes(), bytes)) bytes_ = DiskBytes();
    bytes_.resize(bytes);
    bytes_at_ = offset_;
    if (body_->read_now(bytes_, offset_)) return true;
    let_go();
    return false;
}

void DiskBodyReader::let_go() {
    bytes_ = DiskBytes();
    charge_ = base::Charge();
}

void DiskBodyReader::ask() {
    reading_ = std::make_shared<Reading>(body_->slice_at(offset_).begin);
    const std::weak_ptr<Reading> asker = reading_;
    body_->read_slice(body_, offset_, asker, [asker, wakeup = wakeup_](auto answer) {
        const auto reading = asker.lock();
        if (!reading) return;
        {
            const std::lock_guard lock(reading->mutex);
            reading->answer = std::move(answer);
        }
        wakeup->notify();
    });
}

/// Takes the slice that was read, if it is there.
DiskBodyReader::Came DiskBodyReader::take() {
    std::optional<DiskResult<DiskBytes>> answer;
    {
        const std::lock_guard lock(reading_->mutex);
        answer = std::move(reading_->answer);
    }
    if (!answer) return Came::no;
    const auto reading = std::move(reading_);
    if (!*answer) return Came::failed;
    bytes_ = std::move(**answer);
    bytes_at_ = reading->begin;
    const auto held = make_room(bytes_.size());
    if (held == bytes_.size() || !have(offset_)) return Came::yes;
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset_ - bytes_at_);
    const auto left = static_cast<std::uint64_t>(bytes_.end() - from);
    bytes_ = DiskBytes(from, from + static_cast<std::ptrdiff_t>(std::min(left, kUncharged)));
    bytes_at_ = offset_;
    return Came::yes;
}

}  // namespace proxy
