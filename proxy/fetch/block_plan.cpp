#include "proxy/fetch/block_plan.hpp"

#include <algorithm>

#include "base/text/number.hpp"
#include "proxy/fetch/resume_plan.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using boost::beast::http::field;

bool is_given(const WantedBlock& wanted, const Head& head,
              const std::optional<std::uint64_t>& length) {
    return is_wanted(wanted, head) && length == wanted.range.size();
}

bool is_whole_of(const StoredMetadata& response, const BodyVersion& version) {
    const auto fields = response.fields();
    return response.status == 200 && !response.blocks &&
           validators_of(fields).etag == version.etag && source_of(fields) == version.source;
}

FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index) {
    if (given && index && given->range && part.first < index->length &&
        *given->range == blocks_around(part, *index))
        return FirstBlock::index_and_block;
    return given && !of_a_version && is_wanted(part, *given) ? FirstBlock::as_it_is
                                                             : FirstBlock::not_in_parts;
}

BlockRange blocks_around(const RangeRequest& part, std::uint64_t block_bytes) {
    constexpr auto kTooFar = std::uint64_t{1} << 62;
    BlockRange around{Blocks::aligned(part.first, block_bytes).first, {}};
    if (part.form == RangeRequest::Form::bounded && part.last < kTooFar)
        around.last = Blocks::aligned(part.last, block_bytes).last;
    return around;
}

ByteRange blocks_around(const RangeRequest& part, const Blocks& blocks) {
    const auto around = blocks_around(part, blocks.block_bytes);
    const auto end = blocks.length - 1;
    return {around.first, std::min(around.last.value_or(end), end)};
}

std::optional<ByteRange> run_of(const WantedBlock& wanted, const Head& head,
                                const std::optional<std::uint64_t>& length) {
    if (validators_of(head.fields).etag != wanted.version.etag) return std::nullopt;
    if (head.status == 200 && length == wanted.length) return ByteRange{0, wanted.length - 1};
    const auto given = content_range(head.fields);
    if (head.status != 206 || !given || !given->range || given->length != wanted.length)
        return std::nullopt;
    if (given->range->first != wanted.range.first || given->range->last < wanted.range.last)
        return std::nullopt;
    return given->range;
}

FetchError judge_block(const WantedBlock& wanted, const Head& head, bool with_credentials) {
    return is_wanted(wanted, head) ? FetchError::none : why_not_that(head, with_credentials);
}

bool is_wanted(const WantedBlock& wanted, const Head& head) {
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
    return base::parse_number(head.get(field::content_length).value_or(std::string_view()));
}

}  // namespace proxy
