// Responses to peers; responses to clients stand in response_from_cache.cpp.
#include "proxy/client/response_from_cache.hpp"
#include "proxy/client/response_from_store.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/net/quick_recovery.hpp"
#include "proxy/net/wall_clock.hpp"
#include "proxy/storage/body_version.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// Is the part that is asked for one of this very version? Without a version any will do.
bool is_version(Fields request, const StoredResponse& response) {
    return if_range_allows(request, validators_of(response.fields()), wall_now());
}

}  // namespace

asio::awaitable<bool> ResponseFromCache::run_for_peer(std::size_t peer,
                                                      PeerRequestOptions options) {
    auto& transaction = client_.transaction;
    transaction.peer = frontend_.upstream.peers->peers[peer].node;
    recover_quickly(client_.connection.socket().native_handle());
    client_.directives.only_if_cached = false;  // it is how peers ask, and obeyed anyway
    if (frontend_.draining()) co_return co_await refuse_peer(Refusal::draining);

    const auto& fields = client_.head.fields;
    if (const auto* hashes = find(fields, kFieldsField))
        hashed_.emplace(hashes->value,
                        FieldHasher(frontend_.cache.shared.field_key, client_.key.uri()));

    // One block of a body that is stored in such: named by version, form and range.
    const auto range = range_request(fields);
    const auto* version = find(fields, field::if_range);
    const auto* form = find(fields, kFormField);
    const auto wants_block = range.form == RangeRequest::Form::bounded && version != nullptr;
    Store::Found found;
    auto hash = client_.hash;
    if (wants_block && form) {
        const auto uri =
            block_key(client_.key.uri(), version->value, form->value, {range.first, range.last});
        hash = frontend_.cache.shared.key_hasher(uri);
        found = frontend_.cache.look_up(hash, uri, {}, transaction.begun);
        if (found.on_disk) found = co_await recall(std::move(found), hash, uri);
    }
    const auto is_block = found.response || found.fill;
    if (!is_block) {
        hash = client_.hash;
        found = look_up(hash, client_.key.uri(), selecting(), transaction.begun);
        if (found.on_disk) found = co_await recall(std::move(found), hash, client_.key.uri());
    }
    if (transaction.aborted) co_return false;

    std::optional<Fill::Reader> reader;
    Fill::State state;
    FoundForPeer for_peer;
    for_peer.is_block = is_block;
    for_peer.other_variants = found.other_variants;
    for_peer.stored = found.response.get();
    if (!found.response && found.fill) {
        reader.emplace(found.fill, client_.wakeup, false);
        state = reader->state();
        for_peer.growing = &state;
    }
    const auto& response = found.response ? found.response : state.answer.response;
    if (response) {
        for_peer.residence = response->residence(Clock::now());
        for_peer.is_variant = found.response || is_variant(*response);
        const auto length = found.response ? response->body_bytes() : state.answer.length;
        for_peer.is_version =
            !wants_block || is_block ||
            (form && is_version(fields, *response) &&
             form->value == version_of(*response, length, frontend_.cache.shared.key_hasher).form);
    }
    const ReceivedPeerRequest asked{client_.directives, options, wants_block,
                                    client_.site.policy.cache->block};
    const auto reply = plan_peer_response(asked, for_peer);
    if (reply.kind == PeerResponsePlan::Kind::refused) {
        if (reply.refusal == Refusal::absent) frontend_.cache.shared.store.deny(hash);
        std::string lines;
        if (reply.name_validators)
            for (const auto& line : response->fields())
                if (line.id == field::etag || line.id == field::last_modified)
                    append_line(lines, line);
        co_return co_await refuse_peer(reply.refusal, lines);
    }
    if (client_.head.verb == boost::beast::http::verb::head)
        co_return co_await client_.answer(200, {}, {}, kOwnAnswer);  // it would be given
    gave();
    if (reply.kind == PeerResponsePlan::Kind::growing)
        co_return co_await give_growing(*reader, std::move(state));
    transaction.cache = CacheResult::hit;
    CacheStatus status;
    status.ttl = time_to_live(response->freshness, response->residence(transaction.begun));
    if (reply.kind == PeerResponsePlan::Kind::head_alone)
        co_return co_await send_head_alone(*response, status);
    co_return co_await send_stored(client_, *response, status, hash);
}

/// By what has been judged, whatever becomes of the fill meanwhile: what is counted as given is
/// sent, or cut where the asker sees it.
asio::awaitable<bool> ResponseFromCache::give_growing(Fill::Reader& reader, Fill::State state) {
    note_source(state, false);
    CacheStatus status;
    status.forward = Forward::uri_miss;
    status.collapsed = true;
    const auto followed = co_await answer_read(reader, std::move(state), false, status);
    co_return followed == Followed::keep;
}

/// See length_of_head_alone().
asio::awaitable<bool> ResponseFromCache::send_head_alone(const StoredResponse& response,
                                                         const CacheStatus& status) {
    auto& head = client_.own_head;
    head.clear();
    append_status_line(head, 304);
    head.append(response.head, response.head.find('\n') + 1);
    client_.transaction.status = 304;
    client_.transaction.outcome = Outcome::local_hit;
    client_.transaction.source = Source::memory;
    const auto age = current_age(response.freshness, response.residence(client_.transaction.begun));
    client_.compose(head, nullptr, age, status, Framing::length, response.body_bytes());
    const auto sent = co_await client_.connection.send(client_.buffers);
    client_.transaction.aborted = !sent;
    co_return (sent && client_.keep_alive());
}

void ResponseFromCache::gave() {
    frontend_.upstream.record_or_gone(client_.transaction.peer).gave();
}

asio::awaitable<bool> ResponseFromCache::refuse_peer(Refusal reason, std::string_view lines) {
    auto status = kOwnAnswer;
    status.detail = to_string(reason);
    co_return co_await client_.refuse(504, to_string(reason), status, lines);
}

}  // namespace proxy
