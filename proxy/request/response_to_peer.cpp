#include "proxy/request/response_to_peer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text/number.hpp"
#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/fetch/peer_response_plan.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/request/cache_lookup.hpp"
#include "proxy/request/response_from_fill.hpp"
#include "proxy/request/response_from_store.hpp"
#include "proxy/storage/body_version.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

/// A body is refused if the next turn to send a piece of it would come later, which is before a
/// peer calls it stalled (PeerTimes::stall).
constexpr std::chrono::seconds kTurnAtMost{1};

/// A body as small as that goes out at once, so that it does not wait behind large ones. An eighth
/// of a second of the bandwidth at most, because it delays all turns.
std::uint64_t bytes_without_turns(std::uint64_t bandwidth) {
    return std::min<std::uint64_t>(64 * 1024, bandwidth / 8);
}

/// The steps of a response to a peer.
class ResponseToPeer {
public:
    ResponseToPeer(Transaction& transaction, const ProvenPeer& peer)
        : transaction_(transaction),
          service_(transaction.service),
          request_(transaction.request),
          stats_(transaction.stats),
          lookup_(transaction),
          received_{request_.directives, peer.options, may_travel(transaction), false,
                    request_.site.policy.cache->block},
          waits_at_most_(request_.config().timeouts.origin_head) {
        stats_.peer = service_.upstream.peers.view()->peers[peer.index].node;
        request_.directives.only_if_cached = false;  // it is how peers ask, and obeyed anyway
    }

    asio::awaitable<void> run() {
        if (service_.connections.draining()) co_return co_await refuse(Refusal::draining);
        const auto& fields = request_.head.fields;
        if (const auto* question = find(fields, kMeetField)) meet_ = parse_meet(question->value);
        if (const auto* hashes = find(fields, kFieldsField))
            hashed_.emplace(hashes->value,
                            FieldHasher(service_.cache.shared.field_key, request_.key.uri()));
        if (received_.may_travel) co_await look_up();
        if (stats_.aborted) co_return;
        const auto begun = Clock::now();
        for (auto looks = 0; looks < kMaxLooks && !found_.response && is_growing(); ++looks) {
            growing_ = reader_->state();
            if (meet_.kind != MeetQuestion::Kind::follow) break;
            co_await wait_for_head(begun);
            if (stats_.aborted) co_return;
            if (!is_block_ || !look_again()) break;
        }
        const auto plan = plan_peer_response(received_, found());
        if (plan.kind == PeerResponsePlan::Kind::refused) co_return co_await refuse_by(plan);
        if (request_.head.verb == verb::head)  // it would be given
            co_return co_await transaction_.respond(200, {}, {}, kOwnAnswer);
        if (plan.kind != PeerResponsePlan::Kind::head_alone && !keep_to_bandwidth())
            co_return co_await refuse_by({.refusal = Refusal::busy});
        service_.upstream.peers.of_or_gone(stats_.peer).gave();
        co_await give(plan.kind);
    }

private:
    static bool may_travel(const Transaction& transaction) {
        const auto& cluster = *transaction.request.config().cluster;
        if (transaction.request.site.policy.bypasses()) return false;
        return transaction.connection.encrypted() ||
               !stays_encrypted(cluster, transaction.request.key);
    }
    SelectingFields selecting() {
        SelectingFields by(request_.head.fields);
        by.hashed = hashed_ ? &*hashed_ : nullptr;
        return by;
    }

    /// A block of a body in blocks is named by version, form and range.
    asio::awaitable<void> look_up() {
        const auto& fields = request_.head.fields;
        const auto by = selecting();
        const auto range = range_request(fields);
        version_ = find(fields, field::if_range);
        form_ = find(fields, kFormField);
        received_.for_block = range.form == RangeRequest::Form::bounded && version_ != nullptr;
        if (received_.for_block && form_) {
            const auto uri = block_key(request_.key.uri(), version_->value, form_->value,
                                       {range.first, range.last});
            hash_ = service_.cache.shared.key_hasher(uri);
            found_ = service_.cache.shared.store.find(hash_, uri, {}, stats_.begun);
            if (found_.on_disk) found_ = co_await lookup_.recall(std::move(found_), hash_, uri, by);
            block_uri_ = uri;
            if (meet_.kind == MeetQuestion::Kind::follow) follow_run({range.first, range.last});
        }
        is_block_ = found_.response || found_.fill || reader_;
        if (is_block_ || comes_late_) co_return;
        hash_ = request_.hash;
        const auto uri = request_.key.uri();
        found_ = lookup_.find(hash_, uri, by, stats_.begun);
        if (found_.on_disk) found_ = co_await lookup_.recall(std::move(found_), hash_, uri, by);
        const auto& stored = found_.response;
        if (stored && !is_fresh(stored->freshness, stored->residence(stats_.begun)) &&
            lookup_.renew(*stored))
            found_ = lookup_.find(hash_, uri, by, stats_.begun);
    }

    /// False: the peer would take the pauses of the body for a stall, so it asks elsewhere.
    bool keep_to_bandwidth() {
        ClientAllowance limits;
        limits.bandwidth = request_.config().cluster->bandwidth;
        if (limits.bandwidth == 0) return true;
        const auto now = Clock::now();
        auto share = std::make_unique<ClientShare>();
        share->enter(service_.shared.peers, limits, now);
        if (share->time_to_turn(now) > kTurnAtMost) return false;
        const auto bytes = body_bytes();
        if (bytes && *bytes <= bytes_without_turns(limits.bandwidth))
            share->sent(*bytes, now);
        else
            request_.share = std::move(share);
        return true;
    }
    std::optional<std::uint64_t> body_bytes() const {
        if (received_.for_block) {
            const auto range = range_request(request_.head.fields);
            return range.last - range.first + 1;
        }
        if (found_.response) return found_.response->body_bytes();
        if (!growing_.incoming.length_known) return std::nullopt;
        return growing_.incoming.length;
    }

    /// The peer follows this node. Joins the run that is to bring the block soon enough, unless the
    /// block is here. The run goes on for its readers and for those that follow.
    void follow_run(const ByteRange& block) {
        auto& shared = service_.cache.shared;
        const auto version = shared.key_hasher(
            flow_key(request_.key.uri(), version_->value, form_->value, received_.block_bytes));
        const auto flow = shared.flows.find(version, block.first, nullptr, shared.store);
        if (!flow || flow->blocks().at(block.first) != block) return;
        flow->followed_by_peer();
        if (found_.response || found_.fill) return;
        const auto& origin = request_.origin();
        const auto usual = origin ? service_.upstream.origin_times.of(origin->key).mean()
                                  : std::chrono::nanoseconds(0);
        comes_late_ = flow->is_too_far_to_follow(block.first, usual, Clock::now());
        if (comes_late_) return;
        // It may be slower than it seems.
        if (block.first > flow->next() + kBlocksAhead * flow->blocks().block_bytes)
            waits_at_most_ = std::max<std::chrono::nanoseconds>(kWaitForFlow, usual);
        reader_ = flow->join(block.first, transaction_.wakeup, false);
        // The run may have begun the block, or stored it, meanwhile.
        if (!reader_) found_ = shared.store.find(hash_, block_uri_, {}, Clock::now());
    }

    /// There is a fill, and `reader_` reads it.
    bool is_growing() {
        if (!reader_ && found_.fill)
            reader_ = std::make_unique<Fill::Reader>(found_.fill, transaction_.wakeup, false);
        return reader_ != nullptr;
    }

    /// Waits for the head of the fill, or its end, as a client of this node does. A fill that a
    /// peer feeds is waited for shortly, because that peer may have broken off. `begun`: of the
    /// first look, which all deadlines count from.
    asio::awaitable<void> wait_for_head(Clock::time_point begun) {
        constexpr std::chrono::seconds kForOtherSender{2};
        for (;;) {
            const auto phase = growing_.phase;
            const auto fed = growing_.incoming.fed_by_origin();
            const auto ended = phase == Fill::Phase::complete || phase == Fill::Phase::failed;
            const auto waits = phase == Fill::Phase::waiting;
            if (ended || growing_.released || (fed && !waits)) co_return;
            if (!fed && waits && !is_block_) co_return;
            const std::chrono::nanoseconds at_most = fed ? waits_at_most_ : kForOtherSender;
            const auto news = co_await transaction_.wait_for_news(begun + at_most);
            growing_ = reader_->state();
            if (news != Transaction::News::come) co_return;
        }
    }

    /// If the fill of a block has ended, the store has the block, or another fetch or a run brings
    /// it, or nobody does. False: the fill goes on, or has what the store lacks.
    bool look_again() {
        const auto failed = growing_.phase == Fill::Phase::failed;
        if (!failed && growing_.phase != Fill::Phase::complete) return false;
        found_ = service_.cache.shared.store.find(hash_, block_uri_, {}, Clock::now());
        if (!failed && !found_.response) return false;
        reader_.reset();
        growing_ = {};
        const auto range = range_request(request_.head.fields);
        if (!found_.response && !found_.fill) follow_run({range.first, range.last});
        return true;
    }

    const std::shared_ptr<const StoredResponse>& response() const {
        return found_.response ? found_.response : growing_.incoming.response;
    }

    PeerLookup found() {
        PeerLookup found;
        found.is_block = is_block_;
        found.comes_late = comes_late_;
        found.other_variants = found_.other_variants;
        found.stored = found_.response.get();
        if (reader_) found.growing = &growing_;
        if (!response()) return found;
        const auto& response = *this->response();
        found.residence = response.residence(Clock::now());
        found.is_variant = found_.response || is_variant(response, selecting());
        if (!received_.for_block || is_block_) return found;
        const auto length = found_.response ? response.body_bytes() : growing_.incoming.length;
        found.is_version =
            form_ && is_named_version(response) &&
            form_->value == version_of(response, length, service_.cache.shared.key_hasher).form;
        return found;
    }

    /// Is the requested part one of this very version? Without a version any will do.
    bool is_named_version(const StoredResponse& response) const {
        return if_range_allows(request_.head.fields, validators_of(response.fields()), wall_now());
    }

    summary::KeyHash meeting_key() const {
        if (!meet_.of_block || !received_.for_block || !form_) return request_.hash;
        const auto first = range_request(request_.head.fields).first;
        return service_.cache.shared.key_hasher(key_around(
            first, request_.key.uri(), version_->value, form_->value, received_.block_bytes));
    }

    asio::awaitable<void> refuse_by(const PeerResponsePlan& plan) {
        if (plan.refusal == Refusal::absent && received_.may_travel)
            service_.cache.shared.store.deny(hash_);
        std::string lines;
        if (plan.name_validators)
            for (const auto& line : FieldBlock(response()->head_fields))
                if (line.id == field::etag || line.id == field::last_modified ||
                    iequals(line.name, kSourceField))
                    append_line(lines, line);
        if (plan.refusal == Refusal::variant && hashed_ && !hashed_->unknown_names().empty())
            lines.append("Vary: ").append(hashed_->unknown_names()).append("\r\n");
        const auto is_asked = meet_.kind == MeetQuestion::Kind::who && received_.may_travel;
        if (is_asked && (plan.refusal == Refusal::absent || plan.refusal == Refusal::busy)) {
            const auto node = service_.cache.shared.cooperation.fetchers.meet(
                meeting_key(), stats_.peer, meet_.failed, Clock::now());
            if (!node.empty()) lines.append(kFetcherField).append(": ").append(node).append("\r\n");
        }
        co_await refuse(plan.refusal, lines);
    }

    asio::awaitable<void> refuse(Refusal reason, FieldBlock fields = {}) {
        auto status = kOwnAnswer;
        status.detail = to_string(reason);
        co_await transaction_.refuse(504, to_string(reason), status, fields);
    }

    asio::awaitable<void> give(PeerResponsePlan::Kind kind) {
        if (kind == PeerResponsePlan::Kind::growing) co_return co_await give_growing();
        const auto& stored = *response();
        append_server(stored);
        append_first_seen(stored);
        stats_.cache = CacheResult::hit;
        CacheStatus status;
        status.ttl = time_to_live(stored.freshness, stored.residence(stats_.begun));
        if (kind == PeerResponsePlan::Kind::head_alone)
            co_await give_head_alone(stored, status);
        else
            co_await respond_from_store(transaction_, stored, lookup_.source_of(stored), status,
                                        hash_);
    }

    /// States the server of a group whose bytes these are.
    void append_server(const StoredResponse& stored) {
        if (stored.server == 0) return;
        std::array<char, 8> digits;
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), stored.server, 16);
        const std::string_view value(digits.data(),
                                     static_cast<std::size_t>(end.ptr - digits.data()));
        transaction_.writer.fields().append(kServerField).append(": ").append(value).append("\r\n");
    }

    /// States when the cluster first saw the content, where a rule of this node counts from there.
    void append_first_seen(const StoredResponse& stored) {
        const auto* rule = request_.site.policy.rule;
        if (!may_judge_age(rule)) return;
        const auto fields = stored.fields();
        auto& sights = service_.cache.shared.first_sights;
        const auto seen = sights.note({*rule, request_.key.uri(), stored.status, fields},
                                      stored.arrival.wall, wall_now());
        if (!seen) return;
        transaction_.writer.fields().append(kFirstSeenField).append(": ");
        base::append_number(transaction_.writer.fields(),
                            static_cast<std::uint64_t>(seen->time_since_epoch().count()));
        transaction_.writer.fields().append("\r\n");
    }

    /// Sends what has been judged, whatever becomes of the fill meanwhile: a body that is counted
    /// as given is sent, or cut where the peer sees it.
    asio::awaitable<void> give_growing() {
        append_server(*response());
        append_first_seen(*response());
        // At the bandwidth of the cluster it may come slower than from the origin.
        if (is_block_ && !request_.share) append_fetcher(request_.config().node);
        const FillResponse from{*reader_, growing_, false};
        note_source(stats_, from);
        CacheStatus status;
        status.forward = Forward::uri_miss;
        status.collapsed = true;
        std::string detail;
        status = describe(stats_, from, status, detail);
        co_await respond_from_fill(transaction_, from, status);
    }

    void append_fetcher(std::string_view node) {
        transaction_.writer.fields().append(kFetcherField).append(": ").append(node).append("\r\n");
    }

    /// See length_of_head_alone().
    asio::awaitable<void> give_head_alone(const StoredResponse& stored, const CacheStatus& status) {
        stats_.outcome = Outcome::local_hit;
        stats_.source = Source::memory;
        const auto fetcher =
            service_.cache.shared.cooperation.fetchers.of(request_.hash, Clock::now());
        if (stored.blocks && !fetcher.empty()) append_fetcher(fetcher);
        const auto age = current_age(stored.freshness, stored.residence(stats_.begun));
        transaction_.begin({304, stored.head_fields, stored.body_bytes(), false}, nullptr, age,
                           status);
        co_await transaction_.send_head();
    }

    Transaction& transaction_;
    ClientService& service_;
    Request& request_;
    RequestStats& stats_;
    CacheLookup lookup_;
    ReceivedPeerRequest received_;
    std::optional<HashedFields> hashed_;  // names and hashes of the client's fields
    const Field* version_ = nullptr;      // that the peer names
    const Field* form_ = nullptr;
    MeetQuestion meet_;
    summary::KeyHash hash_;  // of the entry that was found, or looked for
    Store::Found found_;
    std::string block_uri_;  // key of the block that is asked for
    bool is_block_ = false;  // found under the block's own key
    bool comes_late_ = false;
    std::chrono::nanoseconds waits_at_most_;  // for a head that the origin sends
    std::unique_ptr<Fill::Reader> reader_;
    Fill::State growing_;  // of the fill that `reader_` reads
};

}  // namespace

asio::awaitable<void> respond_to_peer(Transaction& transaction, ProvenPeer peer) {
    ResponseToPeer response(transaction, peer);
    co_await response.run();
}

}  // namespace proxy
