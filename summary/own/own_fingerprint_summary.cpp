#include "summary/own/own_fingerprint_summary.hpp"

#include <algorithm>
#include <utility>

#include "summary/sizing/sizing.hpp"

namespace summary {

namespace {

FingerprintShape shape_of_kind(Kind kind, std::uint64_t objects, double error) {
    if (kind == Kind::quotient) return quotient_shape_for(objects, error);
    return cuckoo_shape_for(objects, error);
}

/// Sorting, encoding and following a fingerprint costs as much as about this many bits.
constexpr std::size_t kBitsEach = 6;

/// Determines the error of a shape, whatever its size.
unsigned bits_each(const FingerprintShape& shape) {
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) {
        return quotient->remainder_bits;
    }
    return std::get<CuckooShape>(shape).tag_bits;
}

}  // namespace

template <Kind kind>
FingerprintShape OwnFingerprintSummary<kind>::shape_for(std::uint64_t objects) const {
    return shape_of_kind(kind, std::max(objects, config_.expected_objects), config_.error);
}

template <Kind kind>
OwnFingerprintSummary<kind>::OwnFingerprintSummary(const OwnSummaryConfig& config)
    : config_(config),
      own_(shape_of_kind(kind, config.expected_objects, config.error), config.first_epoch) {}

template <Kind kind>
OwnFingerprintSummary<kind>::OwnFingerprintSummary(const OwnSummaryConfig& config,
                                                   OwnFingerprintSummary&& earlier)
    : config_(config), own_(std::move(earlier.own_)) {
    const bool was_growing = own_.growing();
    own_.restart(config.first_epoch);
    if (importing() ? !was_growing : suits()) return;
    begin_regrow();
    own_.grow_some(4 * kMinObjects);
}

template <Kind kind>
std::optional<Bytes> OwnFingerprintSummary<kind>::take_payload(std::size_t max_bytes) {
    const auto change =
        own_.take_delta(std::max<std::size_t>(config_.changes_at_once / kBitsEach, 1));
    if (!change) return std::nullopt;
    Bytes payload;
    const auto range = universe(own_.shape());
    if constexpr (kind == Kind::quotient) {
        encode_ranked_delta(change->delta.added, change->ranks, range, change->objects, payload);
    } else {
        encode_fingerprint_delta(change->delta, range, payload);
    }
    if (payload.size() > max_bytes) return std::nullopt;
    return payload;
}

template <Kind kind>
double OwnFingerprintSummary<kind>::fill_ratio() const {
    return static_cast<double>(objects()) / static_cast<double>(capacity(own_.shape()));
}

template <Kind kind>
Fit OwnFingerprintSummary<kind>::fit() const {
    if (importing()) return Fit::fits;
    const auto room = capacity(own_.shape());
    const auto larger = capacity(shape_for(room + 1));
    if (objects() > room && larger > room) return Fit::too_small;
    if (objects() < room / kShrinkBelow && room > capacity(shape_for(0))) return Fit::too_large;
    return Fit::fits;
}

template <Kind kind>
bool OwnFingerprintSummary<kind>::suits() const {
    return bits_each(own_.shape()) == bits_each(shape_for(capacity(own_.shape()))) &&
           fit() == Fit::fits;
}

template <Kind kind>
void OwnFingerprintSummary<kind>::begin_regrow() {
    const auto with_room =
        static_cast<std::uint64_t>(static_cast<double>(objects()) * kRoomAfterRegrow);
    own_.begin_regrow(shape_for(with_room));
}

template <Kind kind>
void OwnFingerprintSummary<kind>::end_import() {
    if (objects() > 0)
        begin_regrow();
    else
        own_.end_import();
}

template class OwnFingerprintSummary<Kind::quotient>;
template class OwnFingerprintSummary<Kind::cuckoo>;

}  // namespace summary
