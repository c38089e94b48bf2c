#include "proxy/http/merge_304.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"

#include <algorithm>
#include <iterator>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

bool carries(Fields fields, const Field& name) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const Field& field) { return same_name(field, name); });
}

}  // namespace

bool applies_to(Fields not_modified, const Validators& stored) {
    const auto fresh = validators_of(not_modified);
    if (!fresh.etag.empty()) {
        const auto theirs = parse_entity_tag(fresh.etag), ours = parse_entity_tag(stored.etag);
        return theirs && ours ? weak_match(*theirs, *ours) : fresh.etag == stored.etag;
    }
    return fresh.last_modified.empty() || fresh.last_modified == stored.last_modified;
}

std::vector<Field> merge_304(Fields stored, Fields not_modified) {
    const HopByHop stops_here(not_modified);
    const auto ours = parse_entity_tag(only_value(stored, http_field::etag));
    const auto theirs = parse_entity_tag(only_value(not_modified, http_field::etag));
    const auto names_our_bytes = ours && theirs && weak_match(*ours, *theirs);
    std::vector<Field> updates;
    updates.reserve(not_modified.size());
    std::copy_if(not_modified.begin(), not_modified.end(), std::back_inserter(updates),
                 [&](const Field& field) {
                     return field.id != http_field::content_length && !stops_here(field) &&
                            !(field.id == http_field::etag && names_our_bytes);
                 });

    std::vector<Field> merged;
    merged.reserve(stored.size() + updates.size());
    std::copy_if(stored.begin(), stored.end(), std::back_inserter(merged), [&](const Field& field) {
        return field.id != http_field::age && !carries(updates, field);
    });
    merged.insert(merged.end(), updates.begin(), updates.end());
    return merged;
}

}  // namespace proxy
