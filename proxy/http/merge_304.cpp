#include "proxy/http/merge_304.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

/// The content codings of the IANA registry that clients undo by themselves.
constexpr std::array<std::string_view, 9> kCodings{
    "gzip", "x-gzip", "compress", "x-compress", "deflate", "br", "zstd", "dcb", "dcz"};

bool is_coding(std::string_view name) {
    return std::any_of(kCodings.begin(), kCodings.end(),
                       [&](std::string_view coding) { return iequals(coding, name); });
}

std::vector<std::string_view> codings_of(Fields head) {
    std::vector<std::string_view> codings;
    FieldMembers members(head, http_field::content_encoding);
    while (const auto member = members.next())
        if (!iequals(*member, "identity")) codings.push_back(*member);
    return codings;
}

/// Whether `update` gives the stored bytes another coding than their own.
bool recodes(Fields stored, Fields update) {
    if (!find(update, http_field::content_encoding) || same_coding(stored, update)) return false;
    const auto ours = codings_of(stored), theirs = codings_of(update);
    return std::any_of(ours.begin(), ours.end(), is_coding) ||
           std::any_of(theirs.begin(), theirs.end(), is_coding);
}

/// Whether an origin means the same stored bytes by these two tags, if a validation named only one.
bool names_same_bytes(const std::optional<EntityTag>& a, const std::optional<EntityTag>& b) {
    return a && b && (weak_match(*a, *b) || same_but_for_coding(*a, *b));
}

bool carries(Fields fields, const Field& name) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const Field& field) { return same_name(field, name); });
}

}  // namespace

bool applies_to(Fields not_modified, const Validators& stored) {
    const auto fresh = validators_of(not_modified);
    if (!fresh.etag.empty()) {
        const auto theirs = parse_entity_tag(fresh.etag), ours = parse_entity_tag(stored.etag);
        return theirs && ours ? names_same_bytes(theirs, ours) : fresh.etag == stored.etag;
    }
    return fresh.last_modified.empty() || fresh.last_modified == stored.last_modified;
}

bool same_coding(Fields a, Fields b) {
    const auto ours = codings_of(a), theirs = codings_of(b);
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), iequals);
}

std::vector<Field> merge_304(Fields stored, Fields not_modified) {
    const HopByHop stops_here(not_modified);
    const auto ours = parse_entity_tag(only_value(stored, http_field::etag));
    const auto theirs = parse_entity_tag(only_value(not_modified, http_field::etag));
    const auto names_our_bytes = names_same_bytes(ours, theirs);
    const auto other_coding = recodes(stored, not_modified);
    std::vector<Field> updates;
    updates.reserve(not_modified.size());
    std::copy_if(not_modified.begin(), not_modified.end(), std::back_inserter(updates),
                 [&](const Field& field) {
                     return field.id != http_field::content_length &&
                            field.id != http_field::content_range && !stops_here(field) &&
                            !(field.id == http_field::etag && names_our_bytes) &&
                            !(field.id == http_field::content_encoding && other_coding);
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
