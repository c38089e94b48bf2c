#include "measure/origin/origin_body.hpp"

#include <xxhash.h>

#include <string>

#include "measure/trace/splitmix.hpp"

namespace measure {
namespace {

constexpr std::size_t kPeriod = 65'521;           // the largest prime below 64 Ki
constexpr std::size_t kTableBytes = 4 * kPeriod;  // longer than the period, so that pieces are long

const std::string& table() {
    static const std::string text = [] {
        constexpr std::string_view kAlphabet =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
        std::string out(kTableBytes, '\n');
        SplitMix random(1);
        for (std::size_t i = 0; i < kPeriod; ++i) {
            if (i % 80 != 79) out[i] = kAlphabet[random.next() % kAlphabet.size()];
        }
        for (std::size_t i = kPeriod; i < kTableBytes; ++i) out[i] = out[i - kPeriod];
        return out;
    }();
    return text;
}

}  // namespace

OriginBody OriginBody::of(const proxy::CacheKey& key) {
    const std::string_view uri = key.uri().substr(0, key.uri().find('#'));
    return OriginBody(XXH3_64bits(uri.data(), uri.size()));
}

OriginBody::OriginBody(std::uint64_t hash) : hash_(hash) {
    for (std::size_t i = 0; i < kHexBytes; ++i) {
        hex_[i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
    }
}

std::string_view OriginBody::piece(std::uint64_t offset) const {
    if (offset < kHexBytes) return {hex_ + offset, kHexBytes - offset};
    const std::size_t at = (hash_ % kPeriod + offset) % kPeriod;
    return std::string_view(table()).substr(at);
}

bool OriginBody::matches(std::uint64_t offset, std::string_view data) const {
    while (!data.empty()) {
        const std::string_view want = piece(offset).substr(0, data.size());
        if (want != data.substr(0, want.size())) return false;
        data.remove_prefix(want.size());
        offset += want.size();
    }
    return true;
}

}  // namespace measure
