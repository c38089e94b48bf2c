#include "proxy/fetch/response_plan.hpp"

#include <algorithm>

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

/// The client accepts the origin's response alone.
bool asks_origin(const RequestDirectives& directives) {
    return directives.no_cache || directives.max_age == std::chrono::seconds(0);
}

/// `bytes=0-`, with which downloads begin: the whole, in whatever form the store takes it.
bool names_the_whole(const RangeRequest& range) {
    return range.form == RangeRequest::Form::open && range.first == 0;
}

/// Ranges that cannot be made a part of a stored body go to the origin as they are.
bool wants_exact_range(const ResponsePlan& plan, const StoreFacts& found,
                       const RequestFacts& request) {
    using Form = RangeRequest::Form;
    // Of a body in one piece, all is there once it is validated.
    if (found.stored) return false;
    switch (request.range.form) {
        case Form::none:
            return false;
        case Form::several:
            return true;
        case Form::suffix:  // which block that is, only who holds the target knows
            if (found.has_fill && request.may_use_blocks) break;
            if (!request.may_use_blocks || !plan.may_ask_peers || !request.peers_may_have)
                return true;
            break;
        case Form::bounded:
        case Form::open:
            if (request.in_one_piece && !names_the_whole(request.range)) return true;
            break;
    }
    return found.unshareable;
}

/// The store gets nothing from this request: the origin's answer is for the client alone.
bool goes_past_the_store(const ResponsePlan& plan, const StoreFacts& found,
                         const RequestFacts& request) {
    if (request.conditions_for_origin) return true;
    if (request.is_head) return !request.fetches_for_head || found.unshareable;
    return wants_exact_range(plan, found, request);
}

/// The end of a body of which nothing is known. Its whole may be for all clients.
bool is_cold_suffix(const StoreFacts& found, const RequestFacts& request) {
    return request.range.form == RangeRequest::Form::suffix && !request.is_head &&
           !request.conditions_for_origin && !request.authorization && !found.stored &&
           !found.has_fill && !found.unshareable;
}

/// True if the stored response served several requests. Then its successor will, too.
bool may_serve_many(const StoreFacts& found) {
    return !found.stored || found.stored->serves_others();
}

/// Earlier rules may have left these fields out of the key. A block has the key of its version.
bool is_selected_by(const StoredMetadata& stored, const std::vector<std::string>& keys) {
    return stored.status == 206 || std::ranges::all_of(keys, [&](const std::string& key) {
               return has_name(stored.vary_names, kKeyFieldMark + key);
           });
}

/// A fetch under way began before this client's request.
bool wants_it_new(const ResponsePlan& plan, const RequestDirectives& directives) {
    return plan.reuse == Reuse::request || asks_origin(directives);
}

}  // namespace

bool may_give(const SitePolicy& policy, const StoredMetadata& stored) {
    if (is_refusal(stored.status) && !has_name(stored.vary_names, kCredentialNames)) return false;
    if (policy.rule && !policy.rule->storing.key_fields.empty() &&
        !is_selected_by(stored, policy.rule->storing.key_fields))
        return false;
    if (stored.by_rule_alone && stored.rule_mark != policy.mark()) return false;
    if (!stored.shares_cookie && !stored.freshness.targeted) return true;
    const auto rules = policy.rules();
    return (!stored.shares_cookie || rules.store_set_cookie) &&
           (!stored.freshness.targeted || rules.cdn_cache_control);
}

bool may_ask_peers(const RequestDirectives& directives, bool has_peers) {
    return has_peers && !asks_origin(directives);
}

ResponsePlan plan_reuse(const StoreFacts& found, const RequestDirectives& directives) {
    ResponsePlan plan;
    plan.forward = found.other_variants ? Forward::vary_miss : Forward::uri_miss;
    if (!found.stored) return plan;
    plan.forward = Forward::stale;
    if (found.unsure) return plan;
    plan.reuse = decide_reuse(directives, *found.stored, found.residence);
    if (plan.reuse == Reuse::request) plan.forward = Forward::request;
    if (usable(plan.reuse))
        plan.step = ResponseStep::serve;
    else if (may_serve_while_revalidating(directives, *found.stored, found.residence))
        plan.step = ResponseStep::serve_and_renew;
    return plan;
}

ResponsePlan plan_fetch(ResponsePlan plan, const StoreFacts& found, const RequestFacts& request) {
    const auto& directives = request.directives;
    plan.may_ask_peers = may_ask_peers(directives, request.has_peers);
    if (directives.only_if_cached) {
        plan.step = ResponseStep::refuse;
    } else if (goes_past_the_store(plan, found, request)) {
        plan.step = ResponseStep::relay;
        plan.may_fill_behind = is_cold_suffix(found, request);
    } else {
        // A request whose response is likely its own neither waits for others nor lets them wait.
        // Nor does a request that the fetch under way cannot serve.
        plan.collapse = !found.unshareable && !request.authorization && may_serve_many(found) &&
                        !(found.has_fill && wants_it_new(plan, directives));
        plan.in_part = request.may_use_blocks && !found.stored && !request.is_head &&
                       request.range.single() && !names_the_whole(request.range);
        plan.of_version = plan.in_part && request.if_range;
    }
    return plan;
}

bool may_be_of_one_answer(FetchError error) {
    return error == FetchError::reset || error == FetchError::malformed;
}

FollowerStep plan_after_wait(const FollowerWait& seen) {
    // Its like does not wait again, as the store knows by now; another kind of request may.
    if (seen.released && seen.unshareable) return FollowerStep::look_again;
    if (seen.released || seen.error == FetchError::not_in_parts) return FollowerStep::alone;
    if (!seen.leads) {
        // It was given up in the moment in which this one came.
        if (seen.error == FetchError::abandoned) return FollowerStep::look_again;
        // The origin got no request because a stored response stands in, but not for this request.
        const auto is_spared =
            seen.error == FetchError::origin_down || seen.error == FetchError::backed_off;
        if (is_spared && !seen.stands_in) return FollowerStep::alone;
        // Of many that wait, one asks again for all.
        if (may_be_of_one_answer(seen.error) && !seen.stands_in && !seen.again)
            return FollowerStep::look_again;
    }
    // A body that broke off before the head went out is no response (RFC 9110 §15.6.3).
    if (!seen.has_head) return FollowerStep::failure;
    if (seen.leads) return FollowerStep::respond;
    // By now the fields of Vary are known, and other requests for this variant.
    if (!seen.is_variant) return FollowerStep::look_again;
    // Another request's response is reused as from the store, or not at all (no-cache, max-age=0,
    // this client's own directives).
    return seen.usable ? FollowerStep::respond : FollowerStep::alone;
}

}  // namespace proxy
