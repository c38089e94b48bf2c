#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/origin_plan.hpp"
#include "proxy/cache/peer_plan.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

/// What a question to the origin says beside the client's own words, and what its answer is
/// understood by. Views into the job's stored response and the peer's copy.
struct OriginWords {
    OriginAsks what = OriginAsks::nothing;
    std::string lines;                 // each with its CRLF
    std::vector<Field> stored_fields;  // of what is to be validated
    Validators validators;             // as sent
};
/// `asks`: by what_to_ask(); `copy`: of a peer, if that is what is asked about.
OriginWords words_for(OriginAsks asks, const FetchJob& job, const std::optional<StaleCopy>& copy);

/// What the job comes to: what_to_ask() goes by it.
OriginCase case_of(const FetchJob& job, bool peer_copy, bool only_whole);

}  // namespace proxy
