#include "proxy/storage/fill.hpp"

#include <algorithm>

namespace proxy {

void Standstill::note(Time now) {
    const auto waits = stands_still_ && want_more_ > 0;
    if (waits == since_.has_value()) return;
    if (waits) {
        since_ = now;
    } else {
        waited_ += now - *since_;
        since_.reset();
    }
}

Fill::Reader::Reader(std::shared_ptr<Fill> fill, std::shared_ptr<base::Wakeup> wakeup, bool leader)
    : fill_(std::move(fill)), wakeup_(std::move(wakeup)), leader_(leader) {
    const std::lock_guard lock(fill_->mutex_);
    fill_->readers_.enter(*this);
}

Fill::Reader::~Reader() {
    const std::lock_guard lock(fill_->mutex_);
    fill_->readers_.leave(*this);
    if (wants_more_) fill_->standstill_.one_has_left(std::chrono::steady_clock::now());
    if (!released_ && fill_->readers_.closed()) fill_->let_go();
    fill_->writer_->notify();
}

Fill::State Fill::Reader::state() const {
    const std::lock_guard lock(fill_->mutex_);
    return fill_->state_for(this);
}

BodyPiece Fill::Reader::peek(std::uint64_t max_bytes, std::size_t max_buffers,
                             std::vector<boost::asio::const_buffer>& out) const {
    const std::lock_guard lock(fill_->mutex_);
    BodyPiece piece;
    if (!fill_->incoming_.response) return piece;
    const auto& body = *fill_->incoming_.response->body;
    piece.bytes = body.view(offset_, max_bytes, max_buffers, out);
    if (fill_->incoming_.from == From::peer && offset_ < fill_->peer_end_)
        piece.peer_bytes = std::min(piece.bytes, fill_->peer_end_ - offset_);
    piece.end = fill_->phase_ == Phase::complete && offset_ + piece.bytes >= body.size();
    piece.failed = fill_->phase_ == Phase::failed && piece.bytes == 0;
    return piece;
}

void Fill::Reader::consume(std::uint64_t bytes) {
    const std::lock_guard lock(fill_->mutex_);
    offset_ += bytes;
    if (!fill_->readers_.closed() || released_ || bytes == 0) return;
    if (!fill_->readers_.move(*this)) return;
    fill_->let_go();
    fill_->writer_->notify();
}

bool Fill::Reader::shares_window() const {
    const std::lock_guard lock(fill_->mutex_);
    return fill_->readers_.closed() && !released_ && fill_->phase_ == Phase::streaming &&
           fill_->readers_.in_window() > 1;
}

void Fill::Reader::wants_more(std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(fill_->mutex_);
    if (released_ || wants_more_ || offset_ < fill_->incoming_.response->body->size()) return;
    wants_more_ = true;
    fill_->standstill_.one_wants_more(now);
}

std::chrono::nanoseconds Fill::Reader::others_waited(
    std::chrono::steady_clock::time_point now) const {
    const std::lock_guard lock(fill_->mutex_);
    return fill_->standstill_.waited(now);
}

std::optional<std::chrono::nanoseconds> Fill::Reader::time_until(
    std::uint64_t offset, std::chrono::steady_clock::time_point now) const {
    const std::lock_guard lock(fill_->mutex_);
    const auto& response = fill_->incoming_.response;
    const auto size = response ? response->body->size() : 0;
    if (fill_->phase_ == Phase::complete || fill_->phase_ == Phase::failed)
        return std::chrono::nanoseconds(0);
    return fill_->rate_.time_for(offset - std::min(offset, size), now);
}

std::vector<InterimResponse> Fill::Reader::take_interim() {
    const std::lock_guard lock(fill_->mutex_);
    if (!leader_) return {};
    return std::exchange(fill_->interim_, {});
}

void Fill::interim(InterimResponse response) {
    const std::lock_guard lock(mutex_);
    interim_.push_back(std::move(response));
    for (auto* reader : readers_.all())
        if (reader->leader_) reader->wakeup_->notify();
}

void Fill::expect(From from) {
    const std::lock_guard lock(mutex_);
    incoming_.from = from;
    wake_readers();
}

void Fill::begin(Incoming incoming) {
    const std::lock_guard lock(mutex_);
    incoming_ = std::move(incoming);
    phase_ = Phase::streaming;
    if (!incoming_.shared) {
        for (auto* reader : readers_.all())
            if (!reader->leader_ && !incoming_.awaited) readers_.release(*reader);
        readers_.close();
    }
    wake_readers();
}

void Fill::Readers::enter(Reader& reader) {
    reader.index_ = all_.size();
    all_.push_back(&reader);
    ++joined_;
    if (!closed_) return;
    if (reader.leader_)
        reader.position_ = positions_.insert(reader.offset_);
    else
        release(reader);
}

void Fill::Readers::leave(Reader& reader) {
    const auto index = reader.index_;
    all_[index] = all_.back();
    all_[index]->index_ = index;
    all_.pop_back();
    if (reader.released_)
        --released_;
    else if (closed_)
        positions_.erase(reader.position_);
}

void Fill::Readers::release(Reader& reader) {
    reader.released_ = true;
    ++released_;
}

void Fill::Readers::close() {
    if (std::exchange(closed_, true)) return;  // each reader has one position
    for (auto* reader : all_)
        if (!reader->released_) reader->position_ = positions_.insert(reader->offset_);
}

bool Fill::Readers::move(Reader& reader) {
    const auto was_slowest = reader.position_ == positions_.begin();
    auto position = positions_.extract(reader.position_);
    position.value() = reader.offset_;
    reader.position_ = positions_.insert(std::move(position));
    return was_slowest;
}

std::uint64_t Fill::Readers::slowest(std::uint64_t size) const {
    return positions_.empty() ? size : std::min(size, *positions_.begin());
}

/// Drops the bytes that all readers have taken. A validated body is in the store already.
void Fill::let_go() {
    if (phase_ == Phase::streaming && !incoming_.validated)
        incoming_.response->body->drop_before(slowest());
}

std::shared_ptr<const StoredResponse> Fill::coming() const {
    const std::lock_guard lock(mutex_);
    return incoming_.response;
}

bool Fill::is_read_slowly() const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(readers_.all(), [this](const Reader* reader) {
        return !reader->released_ &&
               reader->offset_ + kBodyBlockBytes < incoming_.response->body->size();
    });
}

std::size_t Fill::room() const {
    const std::lock_guard lock(mutex_);
    return incoming_.response->body->room();
}

std::size_t Fill::next_block_bytes() const {
    const std::lock_guard lock(mutex_);
    const auto& body = *incoming_.response->body;
    if (readers_.closed()) return body.next_block_bytes(window_bytes_ / 4);
    return body.next_block_bytes(incoming_.length_known ? incoming_.length - body.size() : 0);
}

void Fill::add_block(std::size_t capacity, base::Charge charge) {
    const std::lock_guard lock(mutex_);
    if (readers_.closed()) let_go();  // also bytes that readers have skipped since
    incoming_.response->body->add_block(capacity, std::move(charge));
}

void Fill::append(std::string_view data) {
    const std::lock_guard lock(mutex_);
    incoming_.response->body->append(data);
    wake_readers();
}

void Fill::flowed(std::uint64_t bytes, std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(mutex_);
    rate_.came(bytes, now);
}

void Fill::goes_on_at_origin() {
    const std::lock_guard lock(mutex_);
    peer_end_ = std::min(peer_end_, incoming_.response->body->size());
    incoming_.goes_on = true;
    wake_readers();
}

void Fill::stop_sharing() {
    const std::lock_guard lock(mutex_);
    readers_.close();
    incoming_.shared = false;
    let_go();
    wake_readers();  // one that waits for bytes may now wait for another reader
}

void Fill::stand_still(std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(mutex_);
    standstill_.begin(now);
}

void Fill::move_on(std::chrono::steady_clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (!standstill_.end(now)) return;
    for (auto* reader : readers_.all()) reader->wants_more_ = false;
}

std::uint64_t Fill::ahead() const {
    const std::lock_guard lock(mutex_);
    return readers_.closed() ? incoming_.response->body->size() - slowest() : 0;
}

Fill::Audience Fill::audience() const {
    const std::lock_guard lock(mutex_);
    return {readers_.present(), readers_.joined(), alone_at_most_};
}

bool Fill::wanted() const {
    const std::lock_guard lock(mutex_);
    if (readers_.present() > 0) return true;
    if (readers_.closed()) return false;
    if (phase_ == Phase::waiting)
        return true;  // its deadline is short, and the answer may be storable
    const auto came = incoming_.response->body->size();
    if (kept_bytes_ && (incoming_.length_known ? incoming_.length : came) <= *kept_bytes_)
        return true;
    return goes_on_unread(came,
                          incoming_.length_known ? std::optional(incoming_.length) : std::nullopt);
}

void Fill::keep(std::chrono::nanoseconds at_most, std::uint64_t most_bytes) {
    const std::lock_guard lock(mutex_);
    alone_at_most_ = at_most;
    kept_bytes_ = most_bytes;
}

void Fill::complete(bool stored) {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::complete;
    incoming_.shared = stored;
    incoming_.length_known = true;
    incoming_.length = incoming_.response->body_bytes();
    wake_readers();
}

void Fill::not_again_before(std::chrono::steady_clock::time_point time) {
    const std::lock_guard lock(mutex_);
    failure_.not_before = time;
}

void Fill::fail(FetchError error, unsigned upstream_status, ParseError malformed) {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::failed;
    failure_.error = error;
    failure_.malformed = malformed;
    incoming_.upstream_status = upstream_status;
    wake_readers();
}

std::uint64_t Fill::received() const {
    const std::lock_guard lock(mutex_);
    return incoming_.response ? incoming_.response->body->size() : 0;
}

Fill::State Fill::state() const {
    const std::lock_guard lock(mutex_);
    return state_for(nullptr);
}

Fill::State Fill::state_for(const Reader* reader) const {
    return {failure_, phase_, incoming_, reader ? reader->released_ : readers_.closed()};
}

void Fill::wake_readers() {
    for (auto* reader : readers_.all()) reader->wakeup_->notify();
}

/// Precondition: the fill is closed.
std::uint64_t Fill::slowest() const {
    return readers_.slowest(incoming_.response->body->size());
}

}  // namespace proxy
