#include "proxy/cache/store_update.hpp"

#include <array>
#include <vector>

#include "proxy/cache/fill_writer.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

/// The stored response again, but stale from now on.
std::shared_ptr<StoredResponse> outdated(const StoredResponse& stored) {
    auto copy = std::make_shared<StoredResponse>();
    copy->status = stored.status;
    copy->head = stored.head;
    copy->freshness = stored.freshness;
    copy->freshness.lifetime = StoredSeconds(0);
    copy->freshness.stale_while_revalidate = StoredSeconds(-1);
    copy->received = stored.received;
    copy->vary_names = stored.vary_names;
    copy->variant = stored.variant;
    copy->tags = stored.tags;
    copy->body = stored.body;
    copy->blocks = stored.blocks;
    return copy;
}

/// RFC 9111 §4.3.5: what the HEAD's answer says of these must be what is stored.
bool agrees(const Head& answer, const StoredResponse& stored, Fields fields) {
    const auto ours = validators_of(fields);
    const auto tag = answer.get(field::etag), date = answer.get(field::last_modified),
               length = answer.get(field::content_length);
    return (!tag || *tag == ours.etag) && (!date || *date == ours.last_modified) &&
           (!length || *length == std::to_string(stored.body_bytes()));
}

}  // namespace

void learn_from_head(SharedCache& cache, const StoringRequest& request, summary::KeyHash hash,
                     const Exchange& exchange) {
    auto& store = cache.store;
    const auto uri = request.key.uri();
    if (exchange.head().status != 200 || request.directives.no_store) return;
    const auto now = Clock::now();
    const auto stored = store.find(hash, uri, request.fields, now).response;
    if (!stored || stored->status != 200) return;
    const auto fields = stored->fields();
    std::shared_ptr<StoredResponse> next;
    if (agrees(exchange.head(), *stored, fields)) {
        auto fresh = refreshed(request, *stored, fields, received(exchange)).draft;
        if (fresh.verdict == StorageVerdict::store) next = std::move(fresh.response);
    }
    if (!next) next = outdated(*stored);
    if (charge(store, *next, uri))
        store.replace(hash, stored.get(), std::move(next), now);
    else
        store.invalidate(hash, now);
}

std::size_t invalidate_after(SharedCache& cache, const CacheKey& key, const Head& answer) {
    std::array<CacheKey, 2> named;
    std::vector<std::string_view> uris{key.uri()};
    for (const auto name : {field::location, field::content_location}) {
        const auto reference = answer.get(name);
        auto& target = named[uris.size() - 1];
        if (reference && resolve_same_origin(key, *reference, target)) uris.push_back(target.uri());
    }
    // RFC 9875, of the same origin.
    const auto groups = invalidated_groups(answer.fields, key.origin(), cache.key_hasher);
    auto what = cache.of(uris);
    what.tags = groups;
    cache.invalidate(std::move(what));
    return uris.size() + groups.size();
}

KeptCopy::KeptCopy(SharedCache& cache, const StoringRequest& request, verb method,
                   summary::KeyHash hash, const Exchange& exchange, std::string_view head,
                   Clock::time_point asked)
    : cache_(cache),
      key_(request.key),
      hash_(hash),
      object_max_(FillWriter::object_max(request.config)) {
    const auto& answer = exchange.head();
    if (method != verb::post || answer.status != 200) return;
    const auto location = answer.get(field::content_location);
    CacheKey named;
    if (!location || !resolve_same_origin(request.key, *location, named) ||
        named.uri() != key_.uri())
        return;
    auto made = draft(request, received(exchange));
    auto& response = made.response;
    response->head = head;
    if (!response->freshness.is_explicit() || made.verdict != StorageVerdict::store ||
        !charge(cache.store, *response, key_.uri()))
        return;
    length_ = exchange.content_length().value_or(0);
    generation_ = generation();
    if (cache.store.invalidated_at(hash, response->tags) >= asked) return;
    response_ = std::move(response);
}

std::uint64_t KeptCopy::generation() const {
    return cache_.store.find(hash_, key_.uri(), {}, Clock::now()).generation;
}

void KeptCopy::has_invalidated(std::size_t count) {
    if (!response_) return;
    const auto before = std::exchange(generation_, generation());
    if (generation_ != before + count) response_.reset();  // somebody else has, too
}

void KeptCopy::append(std::string_view piece) {
    while (response_ && !piece.empty()) {
        auto& body = *response_->body;
        if (body.room() == 0) {
            const auto large = body.size() >= object_max_;
            const auto bytes = body.next_block_bytes(length_ - std::min(length_, body.size()));
            auto reserved = large ? std::nullopt : cache_.store.reserve(bytes);
            if (!reserved) return response_.reset();
            body.add_block(bytes, std::move(*reserved));
        }
        piece.remove_prefix(body.append(piece));
    }
}

void KeptCopy::finish() {
    if (!response_) return;
    Claim claim(cache_.store, hash_, key_.uri(), nullptr);
    claim.stay_alone(generation_);
    claim.publish(std::move(response_), Clock::now());
}

}  // namespace proxy
