#include "proxy/fetch/origin_plan.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/request_policy.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// True if this head can be the response to a request without a range (RFC 9111 §4.3.3).
bool makes_sense(const Head& head, const Validators& sent) {
    if (head.status == 304) return applies_to(head.fields, sent);
    return head.status != 206 && head.status != 412 && head.status != 416;
}

}  // namespace

OriginRequestKind what_to_ask(const FetchFacts& fetch) {
    if (!fetch.has_site || fetch.suffix) return OriginRequestKind::impossible;
    if (fetch.block) return OriginRequestKind::block;
    if (fetch.only_whole) return OriginRequestKind::as_client;
    if (fetch.stored) return OriginRequestKind::validate_stored;
    if (fetch.peer_copy) return OriginRequestKind::validate_copy;
    return fetch.part ? OriginRequestKind::first_block : OriginRequestKind::as_client;
}

FetchError why_not_ask(const FetchFacts& fetch) {
    return fetch.suffix ? FetchError::not_in_parts : FetchError::not_allowed;
}

OriginMeaning meaning_of(OriginRequestKind asked, const Validators& sent,
                         const OriginResult& result, bool stand_in, std::uint64_t in_blocks_above) {
    const auto nonsense = result.error == FetchError::none ? !makes_sense(*result.head, sent)
                                                           : result.error == FetchError::malformed;
    if (sent.any() && nonsense) return {OriginStep::ask_whole};
    if (result.error != FetchError::none) return {OriginStep::fail, result.error};
    if (asked == OriginRequestKind::block) return {OriginStep::take_block};
    const auto status = result.head->status;
    const auto ranged = asked == OriginRequestKind::first_block;
    // The range was this node's own, and so is the origin's response to it.
    if (ranged && (status == 304 || status == 412 || status == 416))
        return {OriginStep::fail, FetchError::not_in_parts, true};
    if (status == 304) {
        if (!sent.any())  // nothing was asked that a 304 could answer
            return {OriginStep::fail, FetchError::malformed};
        return {asked == OriginRequestKind::validate_stored ? OriginStep::renew_stored
                                                            : OriginStep::take_copy};
    }
    if (stand_in && is_origin_trouble(status)) return {OriginStep::fail, FetchError::origin_error};
    if (ranged && status == 206) return {OriginStep::begin_in_blocks};
    if (status == 200 && result.length && *result.length > in_blocks_above &&
        accepts_ranges(result.head->fields))
        return {OriginStep::offer_in_blocks};
    return {OriginStep::pass};
}

bool accepts_ranges(Fields response) {
    FieldMembers units(response, field::accept_ranges);
    while (const auto unit = units.next())
        if (iequals(*unit, "bytes")) return true;
    return false;
}

StoredResponseFate fate_of_stored(const ResponseNotStored& answer) {
    const auto status = answer.status;
    if (!answer.was_validation && answer.was_fresh) return StoredResponseFate::stays;
    if (ends_stored(answer.verdict, status)) {
        // A client that identifies itself may have got a page of its own.
        const auto of_its_user = status != 304 && answer.identifies_user;
        return of_its_user ? StoredResponseFate::stands_in_for_nothing : StoredResponseFate::ends;
    }
    if (answer.verdict == StorageVerdict::store || answer.identifies_user)
        return StoredResponseFate::stays;
    const auto of_a_part = status == 206 || status == 412 || status == 416;
    if (status < 200 || status == 304 || may_pass(status) || of_a_part)
        return StoredResponseFate::stays;
    const auto replaced = status < 300 || status == 404 || status == 410 || status == 451;
    return replaced ? StoredResponseFate::ends : StoredResponseFate::stands_in_for_nothing;
}

}  // namespace proxy
