#include "summary/coding/coding.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <utility>

#include "summary/bits/rice.hpp"

namespace summary {

namespace {

using Input = std::span<const std::byte>;

void append_coding(Coding coding, Bytes& out) {
    out.push_back(static_cast<std::byte>(coding));
}

/// `for_each(visit)` must call visit(position) for `count` ascending positions below `universe`.
template <class ForEach>
void append_positions(std::uint64_t count, std::uint64_t universe, ForEach for_each, Bytes& out) {
    append_varint(count, out);
    if (count == 0) return;
    const auto parameter = rice_parameter(count, universe);
    out.push_back(static_cast<std::byte>(parameter));
    RiceWriter writer(parameter, out);
    for_each([&](std::uint64_t position) { writer.append(position); });
    writer.finish();
}

void append_list(const std::vector<std::uint64_t>& list, std::uint64_t universe, Bytes& out) {
    append_positions(
        list.size(), universe, [&](auto visit) { std::for_each(list.begin(), list.end(), visit); },
        out);
}

/// Takes one list off the front of `input`: first reserve(count), then visit(position) for each.
template <class Reserve, class Visit>
bool take_positions(Input& input, std::uint64_t universe, Reserve reserve, Visit visit) {
    const auto count = take_varint(input);
    if (!count || *count > universe) return false;
    if (*count == 0) return true;
    if (input.empty()) return false;
    const auto parameter = std::to_integer<unsigned>(input.front());
    input = input.subspan(1);
    if (parameter > kMaxRiceParameter) return false;
    if (*count > input.size() * 8 / (parameter + 1))
        return false;  // each takes at least so many bits
    reserve(static_cast<std::size_t>(*count));
    RiceReader reader(parameter, universe, input);
    for (std::uint64_t i = 0; i < *count; ++i) {
        const auto position = reader.next();
        if (!position) return false;
        visit(*position);
    }
    const auto rest = reader.rest();
    if (!rest) return false;
    input = *rest;
    return true;
}

bool take_list(Input& input, std::uint64_t universe, std::vector<std::uint64_t>& list) {
    return take_positions(
        input, universe, [&](std::size_t count) { list.reserve(count); },
        [&](std::uint64_t position) { list.push_back(position); });
}

Coding append_snapshot(const BitArray& snapshot, Bytes& out) {
    const auto start = out.size();
    SnapshotEncoder(snapshot, snapshot.count_ones(), out)
        .step(std::numeric_limits<std::size_t>::max());
    return static_cast<Coding>(out[start]);
}

/// A fast lower bound: a snapshot takes at least one bit for each one, or all its words.
bool snapshot_takes_more_than(std::uint64_t bytes, const BitArray& snapshot) {
    return bytes < max_snapshot_bytes(snapshot.size()) && snapshot.has_ones(bytes * 8);
}

}  // namespace

void encode_delta(const Delta& delta, std::uint64_t bits, Bytes& out) {
    assert(is_valid(delta, bits));
    append_coding(Coding::delta, out);
    append_list(delta.set, bits, out);
    append_list(delta.clear, bits, out);
}

Coding encode_update(const Delta& delta, const BitArray& snapshot, Bytes& out) {
    const auto start = out.size();
    encode_delta(delta, snapshot.size(), out);
    const auto delta_bytes = out.size() - start;
    if (snapshot_takes_more_than(delta_bytes, snapshot)) return Coding::delta;
    Bytes whole;
    const auto coding = append_snapshot(snapshot, whole);
    if (delta_bytes <= whole.size()) return Coding::delta;
    out.resize(start);
    out.insert(out.end(), whole.begin(), whole.end());
    return coding;
}

std::optional<Delta> decode_delta(Input payload, std::uint64_t bits) {
    Delta delta;
    if (!take_coding(Coding::delta, payload) || !take_list(payload, bits, delta.set) ||
        !take_list(payload, bits, delta.clear) || !payload.empty() || !is_valid(delta, bits)) {
        return std::nullopt;
    }
    return delta;
}

SnapshotEncoder::SnapshotEncoder(const BitArray& snapshot, std::uint64_t ones, Bytes& out)
    : snapshot_(snapshot), out_(out), start_(out.size()) {
    const auto parameter = rice_parameter(ones, snapshot.size());
    // Each one takes its low bits and the end of its zeros, and all zeros together stand for at
    // most the whole range. The encoder reserves that much at once, as growing would copy it
    // repeatedly.
    const auto bits = ones * (parameter + 1) + (snapshot.size() >> parameter);
    out_.reserve(start_ + std::min(bits / 8 + 32, max_snapshot_bytes(snapshot.size()) + 32));
    append_coding(Coding::rice_snapshot, out_);
    append_varint(ones, out_);
    if (ones > 0) out_.push_back(static_cast<std::byte>(parameter));
    writer_.emplace(parameter, out_);
    if (out_.size() - start_ >= max_snapshot_bytes(snapshot.size())) begin_raw();
}

void SnapshotEncoder::begin_raw() {
    writer_.reset();
    next_ = 0;
    out_.resize(start_);
    append_coding(Coding::raw_snapshot, out_);
}

bool SnapshotEncoder::step(std::size_t words) {
    const auto all = snapshot_.words();
    const auto size = std::min(words, all.size() - next_);
    if (writer_) {
        const auto limit = max_snapshot_bytes(snapshot_.size());
        const auto end = next_ + size;
        for (; next_ < end; ++next_) {
            for (auto word = all[next_]; word != 0; word &= word - 1) {
                writer_->append(next_ * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
            }
            if (out_.size() - start_ >= limit) break;
        }
        if (next_ == all.size()) writer_->finish();
        if (out_.size() - start_ < limit) return next_ == all.size();
        begin_raw();
        return words >= all.size() && step(words);
    }
    const auto bytes = std::as_bytes(all.subspan(next_, size));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    next_ += size;
    return next_ == all.size();
}

bool SnapshotDecoder::take(Input piece) {
    while (!begun_ && !piece.empty()) {
        if (!take_head(piece)) return false;
    }
    if (piece.empty()) return true;
    return raw_ ? take_words(piece) : take_codes(piece);
}

/// Takes one more byte of the head.
bool SnapshotDecoder::take_head(Input& piece) {
    head_.push_back(piece.front());
    piece = piece.subspan(1);
    if (head_.front() == static_cast<std::byte>(Coding::raw_snapshot)) {
        raw_ = begun_ = true;
        missing_ = max_snapshot_bytes(bits_.size()) - 1;
        return true;
    }
    if (head_.front() != static_cast<std::byte>(Coding::rice_snapshot)) return false;
    constexpr std::size_t kLongestCount = 5;
    auto rest = Input(head_).subspan(1);
    const auto count = take_varint(rest);
    if (!count) return head_.size() <= kLongestCount;
    if (*count > bits_.size()) return false;
    if (*count > 0) {
        if (rest.empty()) return true;
        const auto parameter = std::to_integer<unsigned>(rest.front());
        if (parameter > kMaxRiceParameter) return false;
        codes_ = RiceStream(parameter, bits_.size());
    }
    missing_ = *count;
    begun_ = true;
    return true;
}

bool SnapshotDecoder::take_words(Input& piece) {
    if (piece.size() > missing_) return false;
    for (; !piece.empty(); piece = piece.subspan(1)) {
        const auto index = max_snapshot_bytes(bits_.size()) - 1 - missing_;
        word_ |= std::to_integer<std::uint64_t>(piece.front()) << (index % 8 * 8);
        --missing_;
        if (index % 8 != 7) continue;
        if (!bits_.set_word(index / 8, std::exchange(word_, 0))) return false;
    }
    return true;
}

bool SnapshotDecoder::take_codes(Input& piece) {
    for (; missing_ > 0; --missing_) {
        std::uint64_t position = 0;
        const auto step = codes_.next(piece, position);
        if (step == RiceStream::Step::more) return true;
        if (step == RiceStream::Step::malformed) return false;
        bits_.set(position);
    }
    return piece.empty();
}

std::optional<BitArray> SnapshotDecoder::finish() {
    if (!begun_ || missing_ > 0 || (!raw_ && !codes_.at_end())) return std::nullopt;
    return std::move(bits_);
}

}  // namespace summary
