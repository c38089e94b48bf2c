#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/origin_plan.hpp"
#include "proxy/cache/peer_request_plan.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

/// What a request to the origin has beside the client's own fields, and what its answer is
/// understood by. Views into the job's stored response and the peer's copy.
struct RequestAdditions {
    OriginRequestKind kind = OriginRequestKind::as_client;
    std::string lines;                 // each with its CRLF
    std::vector<Field> stored_fields;  // of what is to be validated
    Validators validators;             // as sent
};
/// `kind`: by what_to_ask(); `copy`: of a peer, if that is what is asked about.
RequestAdditions additions_for(OriginRequestKind kind, const FetchJob& job,
                               const std::optional<StaleCopy>& copy);

/// What the job comes to: what_to_ask() goes by it.
FetchFacts facts_of(const FetchJob& job, bool peer_copy, bool only_whole);

}  // namespace proxy
