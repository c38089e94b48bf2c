#include "proxy/cache/block_plan.hpp"

#include <charconv>

#include "proxy/cache/resume_plan.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using boost::beast::http::field;

bool is_given(const FetchJob::Block& wanted, const Head& head,
              const std::optional<std::uint64_t>& length) {
    return is_wanted(wanted, head) && length == wanted.range.size();
}

bool is_whole_of(const StoredMetadata& response, std::string_view etag) {
    return response.status == 200 && !response.blocks &&
           validators_of(response.fields()).etag == etag;
}

FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index) {
    if (given && index && given->range == index->at(part.first)) return FirstBlock::index_and_block;
    return given && !of_a_version && is_wanted(part, *given) ? FirstBlock::as_it_is
                                                             : FirstBlock::not_in_parts;
}

FetchError judge_block(const FetchJob::Block& wanted, const Head& head) {
    return is_wanted(wanted, head) ? FetchError::none : why_not_that(head);
}

bool is_wanted(const FetchJob::Block& wanted, const Head& head) {
    const auto range = content_range(head.fields);
    return head.status == 206 && range && range->range == wanted.range &&
           range->length == wanted.length && validators_of(head.fields).etag == wanted.version.etag;
}

bool is_wanted(const RangeRequest& part, const ContentRange& given) {
    if (!given.range || given.range->first != part.first) return false;
    const auto to_the_end = given.length && given.range->last + 1 == *given.length;
    if (part.form == RangeRequest::Form::open) return to_the_end;
    return given.range->last == part.last || (to_the_end && part.last > given.range->last);
}

std::optional<std::uint64_t> length_of_head_alone(const Head& head) {
    if (head.status != 304) return std::nullopt;
    const auto text = head.get(field::content_length).value_or(std::string_view());
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return length;
}

}  // namespace proxy
