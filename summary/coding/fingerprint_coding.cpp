#include "summary/coding/fingerprint_coding.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace summary {

namespace {

using Input = std::span<const std::byte>;
using Numbers = std::span<const std::uint64_t>;

/// `raise` is 1 for multisets: each number is raised by its index, so that all differ.
void append_list(Numbers list, std::uint64_t range, unsigned raise, Bytes& out) {
    append_varint(list.size(), out);
    if (list.empty()) return;
    const auto parameter = rice_parameter(list.size(), range + list.size() * raise);
    out.push_back(static_cast<std::byte>(parameter));
    RiceWriter writer(parameter, out);
    for (std::uint64_t i = 0; i < list.size(); ++i) writer.append(list[i] + i * raise);
    writer.finish();
}

/// Count and parameter. Parsing fails when the input is too short for them.
struct ListHead {
    std::uint64_t count = 0;
    unsigned parameter = 0;
};
std::optional<ListHead> take_head(Input& input, std::uint64_t max_count) {
    const auto count = take_varint(input);
    if (!count || *count > max_count) return std::nullopt;
    if (*count == 0) return ListHead{};
    if (input.empty()) return std::nullopt;
    const auto parameter = std::to_integer<unsigned>(input.front());
    input = input.subspan(1);
    if (parameter > kMaxRiceParameter) return std::nullopt;
    return ListHead{*count, parameter};
}

std::optional<std::vector<std::uint64_t>> take_list(Input& input, std::uint64_t range,
                                                    std::uint64_t max_count, unsigned raise) {
    const auto head = take_head(input, max_count);
    if (!head) return std::nullopt;
    std::vector<std::uint64_t> list;
    if (head->count == 0) return list;
    // Each number takes at least this many bits.
    if (head->count > input.size() * 8 / (head->parameter + 1)) return std::nullopt;
    list.reserve(static_cast<std::size_t>(head->count));
    RiceReader reader(head->parameter, range + head->count * raise, input);
    for (std::uint64_t i = 0; i < head->count; ++i) {
        const auto position = reader.next();
        // Positions ascend strictly, so each is at least its index.
        if (!position || *position - i * raise >= range) return std::nullopt;
        list.push_back(*position - i * raise);
    }
    const auto rest = reader.rest();
    if (!rest) return std::nullopt;
    input = *rest;
    return list;
}

template <class Filter, class... Writes>
bool apply_to(const FingerprintDelta& delta, Filter& filter, Writes... writes) {
    const auto erase = [&](std::uint64_t number) { return filter.erase(number, writes...); };
    const auto insert = [&](std::uint64_t number) { return filter.insert(number, writes...); };
    return std::all_of(delta.removed.begin(), delta.removed.end(), erase) &&
           std::all_of(delta.added.begin(), delta.added.end(), insert);
}

}  // namespace

bool is_valid(const FingerprintDelta& delta, std::uint64_t universe) {
    const auto& [added, removed] = delta;
    const auto fits = [&](const std::vector<std::uint64_t>& list) {
        return std::is_sorted(list.begin(), list.end()) && (list.empty() || list.back() < universe);
    };
    if (!fits(added) || !fits(removed)) return false;
    auto other = removed.begin();
    for (const auto fingerprint : added) {
        while (other != removed.end() && *other < fingerprint) ++other;
        if (other != removed.end() && *other == fingerprint) return false;
    }
    return true;
}

void encode_ranked_delta(Numbers added, Numbers ranks, std::uint64_t universe,
                         std::uint64_t objects, Bytes& out) {
    assert(ranks.empty() || ranks.back() < objects);
    out.push_back(static_cast<std::byte>(Coding::ranked_delta));
    append_list(added, universe, 1, out);
    append_list(ranks, objects, 0, out);
}

void encode_fingerprint_delta(const FingerprintDelta& delta, std::uint64_t universe, Bytes& out) {
    assert(is_valid(delta, universe));
    out.push_back(static_cast<std::byte>(Coding::fingerprint_delta));
    append_list(delta.added, universe, 1, out);
    append_list(delta.removed, universe, 1, out);
}

std::optional<RankedDelta> decode_ranked_delta(Input payload, std::uint64_t universe,
                                               std::uint64_t objects) {
    if (!take_coding(Coding::ranked_delta, payload)) return std::nullopt;
    auto added = take_list(payload, universe, kMaxFingerprints, 1);
    if (!added) return std::nullopt;
    auto ranks = take_list(payload, objects, objects, 0);
    if (!ranks || !payload.empty()) return std::nullopt;
    return RankedDelta{std::move(*added), std::move(*ranks)};
}

std::optional<FingerprintDelta> decode_ranked_delta(Input payload, const QuotientFilter& before) {
    const auto universe = before.shape().universe;
    auto delta = decode_ranked_delta(payload, universe, before.size());
    if (!delta) return std::nullopt;
    return resolve(std::move(*delta), universe,
                   [&](std::uint64_t rank) { return before.at(rank); });
}

std::optional<FingerprintDelta> decode_fingerprint_delta(Input payload, std::uint64_t universe) {
    if (!take_coding(Coding::fingerprint_delta, payload)) return std::nullopt;
    auto added = take_list(payload, universe, kMaxFingerprints, 1);
    if (!added) return std::nullopt;
    auto removed = take_list(payload, universe, kMaxFingerprints, 1);
    if (!removed || !payload.empty()) return std::nullopt;
    FingerprintDelta delta{std::move(*added), std::move(*removed)};
    if (!is_valid(delta, universe)) return std::nullopt;
    return delta;
}

bool apply(const FingerprintDelta& delta, QuotientFilter& filter) {
    return apply_to(delta, filter);
}

bool apply(const FingerprintDelta& delta, CuckooFilter& filter, std::vector<CuckooWrite>* writes) {
    return apply_to(delta, filter, writes);
}

FingerprintSnapshotEncoder::FingerprintSnapshotEncoder(std::uint64_t universe, std::uint64_t count,
                                                       Bytes& out)
    : writer_(begin(universe, count, out)) {}

RiceWriter FingerprintSnapshotEncoder::begin(std::uint64_t universe, std::uint64_t count,
                                             Bytes& out) {
    const auto range = universe + count;  // positions are raised by their indices
    const auto parameter = rice_parameter(count, range);
    // Each one takes its low bits and the end of its zeros, and all zeros together stand for at
    // most the whole range.
    out.reserve(out.size() + (count * (parameter + 1) + (range >> parameter)) / 8 + 16);
    out.push_back(static_cast<std::byte>(Coding::fingerprint_snapshot));
    append_varint(count, out);
    if (count > 0) out.push_back(static_cast<std::byte>(parameter));
    return RiceWriter(parameter, out);
}

/// Takes one more byte of the head.
bool FingerprintSnapshotReader::take_head(Input& piece) {
    head_.push_back(piece.front());
    piece = piece.subspan(1);
    auto rest = Input(head_);
    if (!take_coding(Coding::fingerprint_snapshot, rest)) return false;
    constexpr std::size_t kLongestCount = 5;
    const auto count = take_varint(rest);
    if (!count) return head_.size() <= kLongestCount;
    if (*count > max_count_) return false;
    if (*count > 0) {
        if (rest.empty()) return true;
        const auto parameter = std::to_integer<unsigned>(rest.front());
        if (parameter > kMaxRiceParameter) return false;
        codes_ = RiceStream(parameter, universe_ + *count);
    }
    missing_ = *count;
    begun_ = true;
    return true;
}

bool QuotientSnapshotDecoder::take(Input piece) {
    return reader_.take(
        piece,
        [&](std::uint64_t count) {
            builder_.emplace(shape_, count);
            return true;
        },
        [&](std::uint64_t fingerprint) { return builder_->append(fingerprint); });
}

std::optional<QuotientFilter> QuotientSnapshotDecoder::finish() {
    if (!reader_.complete()) return std::nullopt;
    return builder_->finish();
}

bool CuckooSnapshotDecoder::take(Input piece) {
    return reader_.take(
        piece, [](std::uint64_t) { return true; },
        [&](std::uint64_t fingerprint) {
            return is_fingerprint(fingerprint, filter_.shape()) && filter_.insert(fingerprint);
        });
}

std::optional<CuckooFilter> CuckooSnapshotDecoder::finish() {
    if (!reader_.complete()) return std::nullopt;
    return std::move(filter_);
}

}  // namespace summary
