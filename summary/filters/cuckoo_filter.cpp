#include "summary/filters/cuckoo_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "summary/bits/shared_words.hpp"

namespace summary {

namespace {

std::size_t words_of(CuckooShape shape) {
    return ((std::size_t{kTagsInBucket} * shape.tag_bits) << shape.buckets_log2) / 64 + 2;
}

}  // namespace

std::uint64_t memory_bytes(CuckooShape shape) {
    return words_of(shape) * sizeof(std::uint64_t);
}

std::uint64_t capacity(CuckooShape shape) {
    const auto tags = std::uint64_t{kTagsInBucket} << shape.buckets_log2;
    return static_cast<std::uint64_t>(static_cast<double>(tags) * kMaxCuckooLoad);
}

CuckooShape cuckoo_shape(std::uint64_t fingerprints, double error) {
    const auto met = 2 * kTagsInBucket * kMaxCuckooLoad;
    const auto bits = std::ceil(std::log2(met / error));
    CuckooShape shape;
    shape.tag_bits =
        static_cast<unsigned>(std::clamp(bits, double{kMinTagBits}, double{kMaxTagBits}));
    shape.buckets_log2 = 1;
    while (capacity(shape) < fingerprints &&
           is_valid(CuckooShape{shape.buckets_log2 + 1, shape.tag_bits})) {
        ++shape.buckets_log2;
    }
    return shape;
}

double cuckoo_false_positive_rate(unsigned tag_bits, double tags) {
    return -std::expm1(tags * std::log1p(-std::exp2(-static_cast<double>(tag_bits))));
}

std::uint64_t cuckoo_fingerprint(KeyHash key, CuckooShape shape) {
    const auto bits = shape.buckets_log2;
    const auto bucket = bits == 0 ? 0 : key.high >> (64 - bits);
    const auto tag = 1 + reduce(key.high << bits, (std::uint64_t{1} << shape.tag_bits) - 1);
    return bucket << shape.tag_bits | tag;
}

CuckooFilter::CuckooFilter(CuckooShape shape)
    : shape_(shape), tag_mask_((std::uint64_t{1} << shape.tag_bits) - 1), words_(words_of(shape)) {
    assert(is_valid(shape));
}

/// The four tags of a bucket.
std::uint64_t CuckooFilter::load(std::uint64_t bucket) const {
    const auto at = bucket * kTagsInBucket * shape_.tag_bits;
    const auto shift = at % 64;
    const auto low = shared_load(words_[at / 64]) >> shift;
    return shift == 0 ? low : low | shared_load(words_[at / 64 + 1]) << (64 - shift);
}

std::uint64_t CuckooFilter::tag_at(std::uint64_t tags, unsigned place) const {
    return tags >> (place * shape_.tag_bits) & tag_mask_;
}

void CuckooFilter::store(std::uint64_t bucket, unsigned place, std::uint64_t tag,
                         std::vector<CuckooWrite>* writes) {
    if (writes != nullptr) writes->push_back({bucket * kTagsInBucket + place, tag});
    const auto at = (bucket * kTagsInBucket + place) * shape_.tag_bits;
    const auto shift = static_cast<unsigned>(at % 64);
    auto& word = words_[at / 64];
    shared_store(word, (word & ~(tag_mask_ << shift)) | tag << shift);
    if (shift + shape_.tag_bits <= 64) return;
    auto& next = words_[at / 64 + 1];
    shared_store(next, (next & ~(tag_mask_ >> (64 - shift))) | tag >> (64 - shift));
}

std::optional<unsigned> CuckooFilter::place_of(std::uint64_t bucket, std::uint64_t tag) const {
    const auto tags = load(bucket);
    for (unsigned place = 0; place < kTagsInBucket; ++place) {
        if (tag_at(tags, place) == tag) return place;
    }
    return std::nullopt;
}

bool CuckooFilter::contains(std::uint64_t fingerprint) const {
    assert(is_fingerprint(fingerprint, shape_));
    const auto tag = fingerprint & tag_mask_;
    const auto bucket = fingerprint >> shape_.tag_bits;
    const auto second = other(bucket, tag);
    __builtin_prefetch(&words_[word_of(second)]);
    for (unsigned i = 0; i < kAttempts; ++i) {
        const auto before = shared_load(version_);
        if (place_of(bucket, tag) || place_of(second, tag)) return true;
        const std::atomic_ref<std::uint64_t> now(const_cast<std::uint64_t&>(version_));
        if (now.load(std::memory_order_relaxed) == before) return false;
    }
    return true;
}

/// Puts the tag into the root of the path to search[last], where a place is free. The tags on the
/// path move on by one, the last one first.
void CuckooFilter::settle(const Search& search, std::size_t last, unsigned free, std::uint64_t tag,
                          std::vector<CuckooWrite>* writes) {
    for (; search[last].from != last; last = search[last].from) {
        const auto& here = search[last];
        const auto source = search[here.from].bucket;
        store(here.bucket, free, tag_at(load(source), here.place), writes);
        shared_store(version_, version_ + 1);
        free = here.place;
    }
    store(search[last].bucket, free, tag, writes);
}

bool CuckooFilter::insert(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes) {
    assert(is_fingerprint(fingerprint, shape_));
    const auto tag = fingerprint & tag_mask_;
    const auto bucket = fingerprint >> shape_.tag_bits;

    // Breadth first, so that few tags move. A bucket without a free place leads to the other
    // buckets of its four tags.
    Search search;
    search[0] = {static_cast<std::uint32_t>(bucket), 0, 0};
    search[1] = {static_cast<std::uint32_t>(other(bucket, tag)), 1, 0};
    std::size_t found = 2;
    for (std::size_t i = 0; i < found; ++i) {
        const auto tags = load(search[i].bucket);
        for (unsigned at = 0; at < kTagsInBucket; ++at) {
            if (tag_at(tags, at) != 0) continue;
            settle(search, i, at, tag, writes);
            ++size_;
            check_ += check_term(fingerprint);
            return true;
        }
        for (unsigned at = 0; at < kTagsInBucket && found < kMaxSearched; ++at) {
            const auto next = other(search[i].bucket, tag_at(tags, at));
            search[found++] = {static_cast<std::uint32_t>(next), static_cast<std::uint16_t>(i),
                               static_cast<std::uint8_t>(at)};
        }
    }
    return false;
}

bool CuckooFilter::erase(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes) {
    assert(is_fingerprint(fingerprint, shape_));
    const auto tag = fingerprint & tag_mask_;
    const auto bucket = fingerprint >> shape_.tag_bits;
    for (const auto here : {bucket, other(bucket, tag)}) {
        const auto place = place_of(here, tag);
        if (!place) continue;
        store(here, *place, 0, writes);
        --size_;
        check_ -= check_term(fingerprint);
        return true;
    }
    return false;
}

}  // namespace summary
