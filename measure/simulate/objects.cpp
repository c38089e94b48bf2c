#include "measure/simulate/objects.hpp"

#include <array>
#include <cstddef>

#include "measure/trace/splitmix.hpp"
#include "proxy/storage/store.hpp"

namespace measure {
namespace {

summary::KeyHasher hasher_of(std::uint64_t seed) {
    std::array<std::byte, summary::KeyHasher::kSecretBytes> secret{};
    SplitMix random(seed);
    for (auto& byte : secret) byte = static_cast<std::byte>(random.below(256));
    return summary::KeyHasher(secret);
}

}  // namespace

Objects::Objects(const Trace& trace, const Options& options) {
    const auto count = trace.object_bytes.size();
    std::vector<std::uint32_t> first(count, 0);  // one more than the index of a URL of each object
    for (std::uint32_t i = 0; i < trace.urls.size(); ++i) {
        auto& known = first[trace.urls[i].object];
        if (known == 0) known = i + 1;
    }
    const auto hash = hasher_of(options.seed);
    proxy::CacheKey key;
    bytes_.reserve(count);
    charged_.reserve(count);
    hashes_.reserve(count);
    entries_.reserve(count);
    ends_.reserve(count + 1);
    ends_.push_back(0);
    for (std::uint32_t object = 0; object < count; ++object) {
        const auto text =
            first[object] == 0 ? std::string_view() : trace.urls[first[object] - 1].text;
        const auto error = key.assign(proxy::Scheme::http, boost::beast::http::verb::get, text, {});
        const auto uri = error == proxy::TargetError::none ? key.uri() : text;
        const auto known = trace.object_bytes[object];
        bytes_.push_back(known != 0 ? known : options.unknown_bytes);
        charged_.push_back(options.unit_objects ? 1
                                                : bytes_.back() + kStoredHeadBytes +
                                                      proxy::Store::overhead_bytes(uri, 0));
        hashes_.push_back(hash(uri));
        entries_.push_back(entry_of(options.kind, {hashes_.back(), uri}));
        text_ += uri;
        ends_.push_back(text_.size());
    }
}

}  // namespace measure
