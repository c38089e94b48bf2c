#include "proxy/fetch/request_additions.hpp"

#include "proxy/fetch/block_plan.hpp"
#include "proxy/http/redirects.hpp"

namespace proxy {

RequestAdditions additions_for(OriginRequestKind kind, const FetchJob& job,
                               const std::optional<StaleCopy>& copy) {
    RequestAdditions request;
    request.kind = kind;
    switch (kind) {
        case OriginRequestKind::block:
            append_range_request(request.lines, job.wanted.block->range.first,
                                 job.wanted.block->to_ask().last, job.wanted.block->version.etag);
            request.source = job.wanted.block->version.source;
            break;
        case OriginRequestKind::validate_stored:
            request.stored_fields = job.from.stale->fields();
            request.validators = validators_of(request.stored_fields);
            append_validation(request.lines, request.validators);
            request.source = std::string(source_of(request.stored_fields));
            break;
        case OriginRequestKind::validate_copy:
            request.validators = copy->validators();
            append_validation(request.lines, request.validators);
            request.source = copy->source;
            break;
        case OriginRequestKind::first_block: {
            const auto range =
                blocks_around(job.wanted.part->range, job.wanted.request->policy().cache->block);
            append_range_request(request.lines, range.first, range.last, {});
            break;
        }
        case OriginRequestKind::as_client:
        case OriginRequestKind::impossible:
            break;
    }
    return request;
}

FetchFacts facts_of(const FetchJob& job, bool peer_copy, bool only_whole) {
    FetchFacts fetch;
    fetch.has_site = job.wanted.request->origin().has_value();
    fetch.block = job.wanted.block.has_value();
    fetch.stored = job.from.stale != nullptr;
    fetch.peer_copy = peer_copy;
    fetch.part = job.wanted.part.has_value();
    fetch.suffix = job.wanted.part && job.wanted.part->range.form == RangeRequest::Form::suffix;
    fetch.only_whole = only_whole;
    return fetch;
}

}  // namespace proxy
