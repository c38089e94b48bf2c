#include "proxy/forwarding/store_update.hpp"

#include <array>
#include <vector>

#include "proxy/forwarding/fill_writer.hpp"
#include "proxy/forwarding/storing.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

StoringRequest storing(ClientContext& client, Fields request) {
    return {client.worker, client.config(), client.key, request, client.directives};
}

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

void learn_from_head(ClientContext& client, const Exchange& exchange, Fields request) {
    auto& store = client.worker.shared.store;
    if (exchange.head().status != 200 || client.directives.no_store) return;
    const auto now = Clock::now();
    const auto stored = store.find(client.hash, client.key.uri(), request, now).response;
    if (!stored || stored->status != 200) return;
    const auto fields = stored->fields();
    std::shared_ptr<StoredResponse> next;
    if (agrees(exchange.head(), *stored, fields)) {
        auto fresh = refreshed(storing(client, request), *stored, fields, received(exchange)).draft;
        if (fresh.verdict == StorageVerdict::store) next = std::move(fresh.response);
    }
    if (!next) next = outdated(*stored);
    if (charge(store, *next, client.key.uri()))
        store.replace(client.hash, stored.get(), std::move(next), now);
    else
        store.invalidate(client.hash, now);
}

std::size_t invalidate_after(ClientContext& client, const Head& answer) {
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
    const auto groups =
        invalidated_groups(answer.fields, client.key.origin(), client.worker.shared.key_hasher);
    client.worker.invalidate_tags(groups);
    return uris.size() + groups.size();
}

KeptCopy::KeptCopy(ClientContext& client, const Exchange& exchange, Fields request,
                   std::string_view head, Clock::time_point asked)
    : client_(client) {
    const auto& answer = exchange.head();
    if (client.head.verb != verb::post || answer.status != 200) return;
    const auto location = answer.get(field::content_location);
    CacheKey named;
    if (!location || !resolve_same_origin(client.key, *location, named) ||
        named.uri() != client.key.uri())
        return;
    auto made = draft(storing(client, request), received(exchange));
    auto& response = made.response;
    response->head = head;
    if (!response->freshness.is_explicit() || made.verdict != StorageVerdict::store ||
        !charge(client.worker.shared.store, *response, client.key.uri()))
        return;
    length_ = exchange.content_length().value_or(0);
    generation_ = generation();
    if (client.worker.shared.store.invalidated_at(client.hash, response->tags) >= asked) return;
    response_ = std::move(response);
}

std::uint64_t KeptCopy::generation() const {
    return client_.worker.shared.store.find(client_.hash, client_.key.uri(), {}, Clock::now())
        .generation;
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
            auto& store = client_.worker.shared.store;
            const auto large = body.size() >= FillWriter::object_max(client_.config());
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
