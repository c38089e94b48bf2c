#include "proxy/cache/resume_plan.hpp"

#include "proxy/http/validators.hpp"

namespace proxy {

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

}  // namespace proxy
