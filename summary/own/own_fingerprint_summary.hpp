#pragma once

#include <cstdint>
#include <optional>

#include "summary/coding/coding.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"
#include "summary/own/own_fingerprints.hpp"
#include "summary/own/own_summary_config.hpp"

namespace summary {

/// The owner's side of a summary of the kinds quotient and cuckoo; own_summary.hpp describes its
/// use. It adds the choice of the size to OwnFingerprints.
template <Kind kKindOfFilter>
class OwnFingerprintSummary {
public:
    static constexpr Kind kKind = kKindOfFilter;

    explicit OwnFingerprintSummary(const OwnSummaryConfig& config);
    OwnFingerprintSummary(const OwnSummaryConfig& config, OwnFingerprintSummary&& earlier);

    bool stored(KeyHash key) { return own_.stored(key); }
    bool removed(KeyHash key) { return own_.removed(key); }
    std::uint64_t objects() const { return own_.objects(); }
    std::uint64_t changed_since_announced() const { return own_.changed_since_announced(); }
    std::optional<Bytes> take_payload(std::size_t max_bytes);
    bool all_announced() const { return own_.all_announced(); }

    class SnapshotWriter {
    public:
        SnapshotWriter(OwnFingerprintSummary& own, Bytes& out) { own.own_.begin_snapshot(out); }
        SnapshotWriter(const SnapshotWriter&) = delete;
        SnapshotWriter& operator=(const SnapshotWriter&) = delete;
        bool step(OwnFingerprintSummary& own) {
            return own.own_.write_some(2 * own.config_.keys_at_once);
        }
    };

    Descriptor descriptor() const { return descriptor_of(own_.shape()); }
    std::uint64_t epoch() const { return own_.epoch(); }
    std::uint64_t generation() const { return own_.generation(); }
    std::uint64_t check_hash() const { return own_.check_hash(); }

    /// Share of the capacity that is used.
    double fill_ratio() const;
    double expected_false_hit() const { return own_.expected_false_hit(); }

    Fit fit() const;
    void set_error(double error) { config_.error = error; }
    bool suits() const;

    void begin_regrow();
    bool growing() const { return own_.growing(); }
    bool grow_some() { return own_.grow_some(config_.keys_at_once); }
    void begin_import() { own_.begin_import(); }
    void end_import();
    bool importing() const { return own_.importing(); }
    /// This kind has all its memory in use.
    bool tidy() { return false; }
    std::uint64_t memory_bytes() const { return own_.memory_bytes(); }

private:
    FingerprintShape shape_for(std::uint64_t objects) const;

    OwnSummaryConfig config_;
    OwnFingerprints own_;
};

using QuotientOwn = OwnFingerprintSummary<Kind::quotient>;
using CuckooOwn = OwnFingerprintSummary<Kind::cuckoo>;
extern template class OwnFingerprintSummary<Kind::quotient>;
extern template class OwnFingerprintSummary<Kind::cuckoo>;

}  // namespace summary
