#include "proxy/fetch/resume_plan.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using boost::beast::http::field;

std::chrono::nanoseconds silence_at_most(Fill::From from, const LoadedConfig& config) {
    const auto idle = config.timeouts.body_idle;
    return from == Fill::From::origin ? idle : std::min(config.constants.peers.stall, idle);
}

BodyEnd end_of_body(FetchError error, bool given_up, bool can_resume) {
    if (given_up) error = FetchError::abandoned;
    const auto faultless = error == FetchError::none || error == FetchError::abandoned;
    return {error, faultless, !faultless && can_resume};
}

FetchError judge_size(std::uint64_t received, const std::optional<std::uint64_t>& expected) {
    return expected && received != *expected ? FetchError::malformed : FetchError::none;
}

BodyRemainder rest_of(std::string_view etag, std::uint64_t came,
                      const std::optional<ByteRange>& block,
                      const std::optional<std::uint64_t>& length) {
    BodyRemainder rest;
    rest.etag = etag;
    rest.begins = block ? block->first : 0;
    rest.first = rest.begins + came;
    if (block) rest.last = block->last;
    rest.length = length;
    return rest;
}

namespace {

/// An origin that ignores ranges gives all of the body.
std::optional<Continuation> whole_of(const BodyRemainder& rest, const Head& head) {
    const auto* length = find(head.fields, field::content_length);
    if (!length || !rest.length) return std::nullopt;
    if (validators_of(head.fields).etag != rest.etag) return std::nullopt;
    if (length->value != std::to_string(*rest.length)) return std::nullopt;
    const auto end = rest.last ? *rest.last + 1 : *rest.length;
    Continuation brings{end - rest.begins, 0, end < *rest.length};
    if (brings.goes_on && rest.up_to) brings.behind = ByteRange{end, *rest.length - 1};
    return brings;
}

}  // namespace

std::optional<Continuation> goes_on_with(const BodyRemainder& rest, const Head& head) {
    if (head.status == 200) return whole_of(rest, head);
    const auto given = content_range(head.fields);
    if (head.status != 206 || !given || !given->range || !given->length) return std::nullopt;
    if (validators_of(head.fields).etag != rest.etag) return std::nullopt;
    if (rest.length && *rest.length != *given->length) return std::nullopt;
    const ByteRange wanted{rest.first, rest.last.value_or(*given->length - 1)};
    const auto last = given->range->last;
    const auto goes_on = last > wanted.last && last <= rest.up_to.value_or(0);
    if (given->range->first != wanted.first || (last != wanted.last && !goes_on))
        return std::nullopt;
    Continuation brings{wanted.last + 1 - rest.begins, rest.first, goes_on};
    if (goes_on) brings.behind = ByteRange{wanted.last + 1, last};
    return brings;
}

FetchError why_not_that(const Head& head, bool with_credentials) {
    const auto status = head.status;
    if (status >= 500 || status == 408 || status == 429) return FetchError::origin_error;
    const auto refused = status == 401 || status == 403 || status == 407;
    const auto gone = status == 404 || status == 410;
    return refused || (gone && with_credentials) ? FetchError::part_refused : FetchError::changed;
}

}  // namespace proxy
