#include "summary/directory/cuckoo_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "summary/bits/shared_words.hpp"

namespace summary {

namespace {

std::uint64_t bits_of(CuckooShape shape) {
    return (std::uint64_t{kTagsInBucket} * shape.tag_bits) << shape.buckets_log2;
}

}  // namespace

CuckooTable::CuckooTable(CuckooShape shape, std::size_t lanes)
    : shape_(shape), bits_(bits_of(shape), lanes) {
    assert(is_valid(shape));
}

void CuckooTable::load_all(std::span<const LaneSource> sources, std::uint64_t from,
                           std::uint64_t to) {
    std::array<const std::uint64_t*, kMaxPeers> dense;
    std::transform(sources.begin(), sources.end(), dense.begin(), [](const LaneSource& source) {
        return source.filter != nullptr ? std::get<CuckooFilter>(*source.filter).words().data()
                                        : nullptr;
    });
    bits_.load_all(std::span(dense).first(sources.size()), from, to);
}

void CuckooTable::load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
                       bool blank) {
    const auto words = std::get<CuckooFilter>(source).words();
    bits_.load(lane, words.subspan(from, to - from), from, blank);
}

/// In the order of the filter's writes: a tag is in its new place, and the version has grown,
/// before its old place is reused.
void CuckooTable::apply(std::size_t lane, const Change& change) {
    for (const auto& write : std::get<CuckooWrites>(change)) {
        const auto first = write.place * shape_.tag_bits;
        for (unsigned i = 0; i < shape_.tag_bits; ++i) {
            bits_.turn(lane, first + i, (write.tag >> i & 1) != 0);
        }
        shared_store(version_, version_ + 1);
    }
}

void CuckooTable::find_in_narrow(std::uint64_t bucket, std::uint64_t tag, const Lanes& lanes,
                                 PeerSet& found) const {
    std::uint64_t hits = 0;
    auto at = position(bucket);
    for (unsigned place = 0; place < kTagsInBucket; ++place) {
        auto same = bits_.first_bits();
        for (unsigned i = 0; i < shape_.tag_bits; ++i, ++at) {
            // All ones for a zero of the tag.
            same &= bits_.narrow(at) ^ ((tag >> i & 1) - 1);
        }
        hits |= same;
    }
    for (; hits != 0; hits &= hits - 1) {
        lanes.add_peer(bits_.lane_at(static_cast<unsigned>(std::countr_zero(hits))), found);
    }
}

void CuckooTable::find_in_wide(std::uint64_t bucket, std::uint64_t tag, const Lanes& lanes,
                               PeerSet& found) const {
    const auto words_each = bits_.words_each();
    std::array<std::uint64_t, kMaxPeers / 64> same;
    for (unsigned place = 0; place < kTagsInBucket; ++place) {
        auto at = position(bucket) + std::uint64_t{place} * shape_.tag_bits;
        std::fill_n(same.begin(), words_each, ~std::uint64_t{0});
        std::uint64_t any = 1;
        for (unsigned i = 0; i < shape_.tag_bits && any != 0; ++i, ++at) {
            const auto flipped = (tag >> i & 1) - 1;
            const auto* const words = bits_.wide(at);
            any = 0;
            for (std::size_t w = 0; w < words_each; ++w) {
                any |= same[w] &= shared_load(words[w]) ^ flipped;
            }
        }
        for (std::size_t w = 0; any != 0 && w < words_each; ++w) {
            for (auto hits = same[w]; hits != 0; hits &= hits - 1) {
                lanes.add_peer(w * 64 + static_cast<std::size_t>(std::countr_zero(hits)), found);
            }
        }
    }
}

void CuckooTable::find(const Key& key, const Lanes& lanes, PeerSet& found) const {
    const auto wanted = cuckoo_fingerprint(key.hash, shape_);
    const auto tag = wanted & ((std::uint64_t{1} << shape_.tag_bits) - 1);
    const auto bucket = wanted >> shape_.tag_bits;
    const auto other = CuckooFilter::other_bucket(shape_, bucket, tag);
    bits_.prefetch(position(other), kTagsInBucket * shape_.tag_bits);
    for (unsigned i = 0; i < kAttempts; ++i) {
        const auto before = shared_load(version_);
        for (const auto where : {bucket, other}) {
            bits_.is_wide() ? find_in_wide(where, tag, lanes, found)
                            : find_in_narrow(where, tag, lanes, found);
        }
        if (shared_load(version_) == before) return;
    }
}

}  // namespace summary
