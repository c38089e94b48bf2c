#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/origin_plan.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

/// The additions of this node to a client's request on its way to the origin, and the values that
/// explain the response. Views into the job's stored response and the peer's copy.
struct RequestAdditions {
    OriginRequestKind kind = OriginRequestKind::as_client;
    std::string lines;                 // each with its CRLF
    std::vector<Field> stored_fields;  // of the response to be validated
    Validators validators;             // as sent
    /// Set: `lines` name a version from this source: AddedLines::source.
    std::optional<std::string> source = {};

    /// They did not go to the URL that gave the response, which is as for the client's own request.
    void did_not_count() {
        kind = OriginRequestKind::as_client;
        validators = {};
    }
};
/// `kind`: by what_to_ask(); `copy`: of a peer, for validate_copy.
RequestAdditions additions_for(OriginRequestKind kind, const FetchJob& job,
                               const std::optional<StaleCopy>& copy);

/// The facts of the job for what_to_ask().
FetchFacts facts_of(const FetchJob& job, bool peer_copy, bool only_whole);

}  // namespace proxy
