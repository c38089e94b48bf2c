#include "measure/report/ideal.hpp"

#include <algorithm>

#include "measure/trace/splitmix.hpp"

namespace measure {
namespace {

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void count(IdealCounts& counts, std::uint64_t bytes, bool local, bool shared) {
    ++counts.requests;
    counts.bytes += bytes;
    if (local) {
        ++counts.local_hits;
        counts.local_hit_bytes += bytes;
    }
    if (shared) {
        ++counts.shared_hits;
        counts.shared_hit_bytes += bytes;
    }
}

}  // namespace

double IdealCounts::local_ratio() const {
    return share_of(local_hits, requests);
}
double IdealCounts::shared_ratio() const {
    return share_of(shared_hits, requests);
}

Ideal ideal_of(const Trace& trace, std::size_t proxies, std::uint64_t unknown_bytes, TracePart part,
               const std::vector<std::uint64_t>& seen, bool lost) {
    Ideal ideal;
    ideal.proxies.resize(proxies);
    std::vector<std::size_t> home(trace.clients.size());
    std::transform(trace.clients.begin(), trace.clients.end(), home.begin(),
                   [&](std::uint64_t client) { return proxy_of(client, proxies); });
    std::vector<bool> at_proxy(trace.object_bytes.size() * proxies),
        anywhere(trace.object_bytes.size());

    const std::size_t end = std::min(part.end, trace.requests.size());
    for (std::size_t i = lost ? part.first : 0; i < end; ++i) {
        const LoggedRequest& request = trace.requests[i];
        const Url& url = trace.urls[request.url];
        const std::size_t proxy = home[request.client];
        const std::size_t slot = url.object * proxies + proxy;
        const bool local_before = at_proxy[slot], shared_before = anywhere[url.object];
        if (request.method == kGet) at_proxy[slot] = anywhere[url.object] = true;
        if (i < part.first) continue;
        const bool can_hit = request.method == kGet || request.method == kHead;
        const bool local = can_hit && local_before;
        const bool shared = can_hit && shared_before;
        const auto logged = trace.object_bytes[url.object];
        const auto came = url.object < seen.size() ? seen[url.object] : 0;
        const std::uint64_t known = came != 0 ? came : logged != 0 ? logged : unknown_bytes;
        const std::uint64_t bytes = request.method == kHead ? 0 : known;
        count(ideal.total, bytes, local, shared);
        count(ideal.proxies[proxy], bytes, local, shared);
        ideal.url_bytes += url.text.size();
    }
    return ideal;
}

}  // namespace measure
