#include "proxy/cache/resume_plan.hpp"

#include <algorithm>

#include "proxy/http/validators.hpp"
#include "proxy/net/pace.hpp"

namespace proxy {

BodyPace pace_expected(Fill::Source source, bool can_resume, const Config& config) {
    if (source == Fill::Source::origin) return {config.timeouts.body_idle, 0};
    const auto idle = std::min(config.cluster->peer_stall, config.timeouts.body_idle);
    return {idle, can_resume ? least_bytes(kPeerRateMin, idle) : 0};
}

BodyEnd end_of_body(FetchError error, bool given_up, bool can_resume) {
    if (given_up) error = FetchError::abandoned;
    const auto faultless = error == FetchError::none || error == FetchError::abandoned;
    return {error, faultless, !faultless && can_resume};
}

FetchError judge_size(std::uint64_t received, const std::optional<std::uint64_t>& expected) {
    return expected && received != *expected ? FetchError::malformed : FetchError::none;
}

bool may_pass(FetchError error) {
    switch (error) {
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
        case FetchError::connect_failed:
        case FetchError::connect_timeout:
        case FetchError::head_timeout:
        case FetchError::body_timeout:
        case FetchError::reset:
        case FetchError::malformed:
        case FetchError::busy:
        case FetchError::no_descriptors:
        case FetchError::origin_down:
        case FetchError::origin_error:
            return true;
        case FetchError::none:
        case FetchError::tls_failed:
        case FetchError::not_allowed:
        case FetchError::own_listener:
        case FetchError::changed:
        case FetchError::not_in_parts:
        case FetchError::abandoned:
        case FetchError::stopping:
            break;
    }
    return false;
}

std::optional<std::chrono::milliseconds> pause_before_retry(FetchError error, unsigned tries,
                                                            std::chrono::nanoseconds since) {
    if (!may_pass(error) || tries >= kMaxTries) return std::nullopt;
    auto pause = kFirstPause;
    for (unsigned i = 1; i < tries; ++i) pause *= 4;
    return since + pause <= kRetryWithin ? std::optional(pause) : std::nullopt;
}

Rest rest_of(std::string_view etag, std::uint64_t came, const std::optional<ByteRange>& block,
             const std::optional<std::uint64_t>& length) {
    Rest rest;
    rest.etag = etag;
    rest.begins = block ? block->first : 0;
    rest.first = rest.begins + came;
    if (block) rest.last = block->last;
    rest.length = length;
    return rest;
}

std::optional<std::uint64_t> goes_on_with(const Rest& rest, const Head& head) {
    const auto given = content_range(head.fields);
    if (head.status != 206 || !given || !given->range || !given->length) return std::nullopt;
    if (validators_of(head.fields).etag != rest.etag) return std::nullopt;
    if (rest.length && *rest.length != *given->length) return std::nullopt;
    const ByteRange wanted{rest.first, rest.last.value_or(*given->length - 1)};
    if (*given->range != wanted) return std::nullopt;
    return wanted.last + 1 - rest.begins;
}

FetchError why_not_that(const Head& head) {
    const auto passing = head.status >= 500 || head.status == 408 || head.status == 429;
    return passing ? FetchError::origin_error : FetchError::changed;
}

}  // namespace proxy
