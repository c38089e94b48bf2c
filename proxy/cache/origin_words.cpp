#include "proxy/cache/origin_words.hpp"

#include <variant>

#include "proxy/cache/peer_copy.hpp"

namespace proxy {

OriginWords words_for(OriginAsks asks, const FetchJob& job, const std::optional<StaleCopy>& copy) {
    OriginWords words;
    words.what = asks;
    switch (asks) {
        case OriginAsks::the_block:
            append_block_request(words.lines, *job.block);
            break;
        case OriginAsks::stored_is_good:
            words.stored_fields = job.stale->fields();
            words.validators = validators_of(words.stored_fields);
            append_validation(words.lines, words.validators);
            break;
        case OriginAsks::copy_is_good:
            words.validators = copy->validators();
            append_validation(words.lines, words.validators);
            break;
        case OriginAsks::the_first_block: {
            const auto range = Blocks::aligned(job.part->first, job.config->cache.block);
            append_range_request(words.lines, range.first, range.last, {});
            break;
        }
        case OriginAsks::nothing:
        case OriginAsks::cannot_be:
            break;
    }
    return words;
}

OriginCase case_of(const FetchJob& job, bool peer_copy, bool only_whole) {
    OriginCase fetch;
    fetch.routed = std::holds_alternative<UpstreamTarget>(job.route);
    fetch.block = job.block.has_value();
    fetch.stored = job.stale != nullptr;
    fetch.peer_copy = peer_copy;
    fetch.part = job.part.has_value();
    fetch.suffix = job.part && job.part->form == RangeRequest::Form::suffix;
    fetch.only_whole = only_whole;
    return fetch;
}

}  // namespace proxy
