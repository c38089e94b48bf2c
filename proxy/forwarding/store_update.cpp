#include "proxy/forwarding/store_update.hpp"

#include <array>
#include <vector>

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

bool may_store(const ClientContext& client, Fields request, const StoredResponse& response,
               Fields fields) {
    return storage_verdict(verb::get, request, client.directives, response.status, fields,
                           response.freshness,
                           client.config().cache.rules) == StorageVerdict::store;
}

bool charge(ClientContext& client, StoredResponse& response) {
    auto reserved = client.worker.shared.store.reserve(
        response.head.size() + Store::overhead_bytes(client.key.uri(), response.tags.size()));
    if (reserved) response.charge = std::move(*reserved);
    return reserved.has_value();
}

/// The stored response again, to be changed.
std::shared_ptr<StoredResponse> copy_of(const StoredResponse& stored) {
    auto copy = std::make_shared<StoredResponse>();
    copy->status = stored.status;
    copy->head = stored.head;
    copy->freshness = stored.freshness;
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

/// Null when it may not be stored any more.
std::shared_ptr<StoredResponse> refreshed(const ClientContext& client, const Exchange& exchange,
                                          Fields request, const StoredResponse& stored,
                                          Fields fields) {
    std::vector<Field> updates;
    for (const auto& line : exchange.head().fields)  // what is said of this hop stays with it
        if (line.id != field::via && !iequals(line.name, "Cache-Status")) updates.push_back(line);
    std::string date;
    if (!find(updates, field::date)) {
        append_http_date(date, exchange.response_time());
        updates.push_back({field::date, "Date", date});
    }
    const auto merged = merge_304(fields, updates);
    auto response = copy_of(stored);
    response->head.clear();
    append_status_line(response->head, stored.status);
    const StoredFields to_store(merged, client.config().cache.rules);
    for (const auto& line : merged)
        if (to_store(line)) append_line(response->head, line);
    response->freshness = freshness_of(stored.status, merged, exchange.request_time(),
                                       exchange.response_time(), client.config().cache.rules);
    response->received = Clock::now();
    response->vary_names = vary_names(merged);
    response->variant.clear();
    append_variant(response->variant, response->vary_names, request);
    auto tags = tags_of(merged, client.key.origin(), client.worker.shared.key_hasher);
    if (!tags || !may_store(client, request, *response, merged)) return nullptr;
    response->tags = std::move(*tags);
    return response;
}

}  // namespace

void learn_from_head(ClientContext& client, const Exchange& exchange, Fields request) {
    auto& store = client.worker.shared.store;
    if (exchange.head().status != 200 || client.directives.no_store) return;
    const auto now = Clock::now();
    const auto stored = store.find(client.hash, client.key.uri(), request, now).response;
    if (!stored || stored->status != 200) return;
    const auto fields = stored->fields();
    std::shared_ptr<StoredResponse> next;
    if (agrees(exchange.head(), *stored, fields))
        next = refreshed(client, exchange, request, *stored, fields);
    if (!next) {
        next = copy_of(*stored);
        next->freshness.lifetime = StoredSeconds(0);
        next->freshness.stale_while_revalidate = StoredSeconds(-1);
    }
    if (charge(client, *next))
        store.replace(client.hash, stored.get(), std::move(next), now);
    else
        store.invalidate(client.hash, now);
}

void invalidate_after(ClientContext& client, const Head& answer) {
    std::array<CacheKey, 2> named;
    std::vector<std::string_view> uris{client.key.uri()};
    for (const auto name : {field::location, field::content_location}) {
        const auto reference = answer.get(name);
        auto& target = named[uris.size() - 1];
        if (reference && resolve_same_origin(client.key, *reference, target))
            uris.push_back(target.uri());
    }
    client.worker.invalidate(uris);
    // RFC 9875, of the same origin.
    client.worker.invalidate_tags(
        invalidated_groups(answer.fields, client.key.origin(), client.worker.shared.key_hasher));
}

KeptCopy::KeptCopy(ClientContext& client, const Exchange& exchange, Fields request,
                   std::string_view head)
    : client_(client) {
    const auto& answer = exchange.head();
    if (client.head.verb != verb::post || answer.status != 200) return;
    const auto location = answer.get(field::content_location);
    CacheKey named;
    if (!location || !resolve_same_origin(client.key, *location, named) ||
        named.uri() != client.key.uri())
        return;
    auto response = std::make_shared<StoredResponse>();
    response->status = answer.status;
    response->head = head;
    response->freshness = freshness_of(answer.status, answer.fields, exchange.request_time(),
                                       exchange.response_time(), client.config().cache.rules);
    response->received = Clock::now();
    response->vary_names = vary_names(answer.fields);
    append_variant(response->variant, response->vary_names, request);
    response->body = std::make_shared<Body>();
    auto tags = tags_of(answer.fields, client.key.origin(), client.worker.shared.key_hasher);
    if (!tags) return;
    response->tags = std::move(*tags);
    if (!response->freshness.is_explicit() ||
        !may_store(client, request, *response, answer.fields) || !charge(client, *response))
        return;
    length_ = exchange.content_length().value_or(0);
    generation_ =
        client.worker.shared.store.find(client.hash, client.key.uri(), request, response->received)
            .generation;
    response_ = std::move(response);
}

void KeptCopy::append(std::string_view piece) {
    const auto& cache = client_.config().cache;
    while (response_ && !piece.empty()) {
        auto& body = *response_->body;
        if (body.room() == 0) {
            auto& store = client_.worker.shared.store;
            const auto large = body.size() >= std::min(cache.object_max, store.memory_cap() / 2);
            const auto bytes = body.next_block_bytes(length_ - std::min(length_, body.size()));
            auto reserved = large ? std::nullopt : store.reserve(bytes);
            if (!reserved) return response_.reset();
            body.add_block(bytes, std::move(*reserved));
        }
        piece.remove_prefix(body.append(piece));
    }
}

void KeptCopy::finish() {
    if (!response_) return;
    client_.worker.shared.store.publish(client_.hash, client_.key.uri(), nullptr, generation_,
                                        std::move(response_), Clock::now());
}

}  // namespace proxy
