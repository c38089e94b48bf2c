#include "proxy/storage/stored_record.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/storage/announceable.hpp"

namespace proxy {
namespace {

constexpr std::uint8_t kMetaVersion = 1;

enum Flag : std::uint8_t {
    always_validate = 1,
    never_stale = 2,
    has_validator = 4,
    personal = 8,
    in_blocks = 16,
    by_targeted = 32,
    says_by_targeted = 64,  // earlier versions lack the last two
    has_marks = 128,        // the mark of the rule follows (0: none), then MarkFlag
};

/// The byte behind the mark of the rule.
enum MarkFlag : std::uint8_t {
    by_rule_alone = 1,
    each_client = 2,
    of_group = 4,  // the mark of the server follows
};

/// The memory that a queued record views.
struct QueuedRecord {
    std::shared_ptr<const StoredResponse> response;
    std::string uri, meta, head;
};

DiskTime disk_time(WallTime time) {
    return std::chrono::time_point_cast<DiskTime::duration>(time);
}

std::string meta_of(const StoredMetadata& response) {
    const auto& freshness = response.freshness;
    const auto has_any_mark = response.rule_mark != 0 || response.server != 0;
    DiskBytes out;
    put<std::uint8_t>(out, kMetaVersion);
    put<std::uint8_t>(out, static_cast<std::uint8_t>(freshness.source));
    put<std::uint8_t>(
        out, static_cast<std::uint8_t>((freshness.always_validate ? always_validate : 0) |
                                       (freshness.never_stale ? never_stale : 0) |
                                       (freshness.has_validator ? has_validator : 0) |
                                       (freshness.personal ? personal : 0) |
                                       (response.blocks ? in_blocks : 0) |
                                       (freshness.targeted ? by_targeted : 0) | says_by_targeted |
                                       (has_any_mark ? has_marks : 0)));
    put<std::uint16_t>(out, response.status);
    for (const auto seconds : {freshness.lifetime, freshness.initial_age,
                               freshness.stale_while_revalidate, freshness.stale_if_error})
        put<std::int32_t>(out, seconds.count());
    if (response.blocks) {
        put<std::uint64_t>(out, response.blocks->length);
        put<std::uint64_t>(out, response.blocks->block_bytes);
    }
    if (has_any_mark) {
        put<std::uint32_t>(out, response.rule_mark);
        put<std::uint8_t>(out,
                          static_cast<std::uint8_t>((response.by_rule_alone ? by_rule_alone : 0) |
                                                    (freshness.each_client ? each_client : 0) |
                                                    (response.server != 0 ? of_group : 0)));
    }
    if (response.server != 0) put<std::uint32_t>(out, response.server);
    return std::string(as_text(out));
}

/// `says_targeted` becomes true if the meta says whether CDN-Cache-Control set the freshness.
bool read_meta(std::string_view meta, StoredMetadata& out, bool& says_targeted) {
    ByteCursor cursor({reinterpret_cast<const std::byte*>(meta.data()), meta.size()});
    if (cursor.number<std::uint8_t>() != kMetaVersion) return false;
    auto& freshness = out.freshness;
    const auto source = cursor.number<std::uint8_t>();
    const auto flags = cursor.number<std::uint8_t>();
    out.status = cursor.number<std::uint16_t>();
    for (auto* seconds : {&freshness.lifetime, &freshness.initial_age,
                          &freshness.stale_while_revalidate, &freshness.stale_if_error})
        *seconds = StoredSeconds(cursor.number<std::int32_t>());
    if (source > static_cast<std::uint8_t>(LifetimeSource::rule)) return false;
    freshness.source = static_cast<LifetimeSource>(source);
    freshness.always_validate = (flags & always_validate) != 0;
    freshness.never_stale = (flags & never_stale) != 0;
    freshness.has_validator = (flags & has_validator) != 0;
    freshness.personal = (flags & personal) != 0;
    freshness.targeted = (flags & by_targeted) != 0;
    says_targeted = (flags & says_by_targeted) != 0;
    if ((flags & in_blocks) != 0) {
        Blocks blocks;
        blocks.length = cursor.number<std::uint64_t>();
        blocks.block_bytes = cursor.number<std::uint64_t>();
        if (blocks.length == 0 || blocks.block_bytes == 0) return false;
        out.blocks = blocks;
    }
    if ((flags & has_marks) != 0) {
        out.rule_mark = cursor.number<std::uint32_t>();
        const auto by = cursor.number<std::uint8_t>();
        out.by_rule_alone = (by & by_rule_alone) != 0;
        freshness.each_client = (by & each_client) != 0;
        if ((by & of_group) != 0) out.server = cursor.number<std::uint32_t>();
    }
    return cursor.ok() && cursor.rest().empty() && out.status >= 100 && out.status <= 999;
}

}  // namespace

bool may_be_written(const StoredResponse& response) {
    return response.vary_names != kVaryAny && response.body->size() <= kMaxRecordBody &&
           !response.body->on_disk();
}

DiskTier::Write write_of(std::shared_ptr<const StoredResponse> response, std::string_view uri) {
    auto written = std::make_shared<QueuedRecord>();
    written->response = std::move(response);
    written->uri = uri;
    const auto& from = *written->response;
    written->meta = meta_of(from);
    append_status_line(written->head, from.status);
    written->head.append(from.head_fields);
    DiskTier::Write out;
    auto& record = out.record;
    record.type = target_of_block(uri) ? RecordType::block : RecordType::response;
    record.stored = disk_time(from.arrival.wall);
    record.expires =
        from.freshness.always_validate && !from.freshness.each_client
            ? record.stored
            : record.stored + std::chrono::duration_cast<DiskTime::duration>(
                                  time_to_live(from.freshness, std::chrono::seconds(0)));
    record.uri = written->uri;
    record.vary_names = from.vary_names;
    record.variant = from.variant;
    record.meta = written->meta;
    record.head = written->head;
    record.tags = from.tags;
    record.body_bytes = from.body->size();
    std::vector<boost::asio::const_buffer> buffers;
    from.body->view(0, record.body_bytes, std::numeric_limits<std::size_t>::max(), buffers);
    out.body.reserve(buffers.size());
    for (const auto& buffer : buffers)
        out.body.push_back({const_cast<void*>(buffer.data()), buffer.size()});
    out.owner = std::move(written);
    return out;
}

std::shared_ptr<StoredResponse> response_of(const LoadedRecord& loaded, const ClockReading& now,
                                            bool doubtful) {
    const auto& record = loaded.record;
    auto response = std::make_shared<StoredResponse>();
    bool says_targeted = false;
    if (!read_meta(record.meta, *response, says_targeted)) return nullptr;
    response->head_fields = record.head.substr(record.head.find('\n') + 1);  // no status line
    response->vary_names = record.vary_names;
    response->variant = record.variant;
    response->tags = record.tags;
    const auto fields = response->fields();
    response->shares_cookie = shares_cookie(fields);
    if (!says_targeted) response->freshness.targeted = response_directives(fields).targeted;
    response->arrival = Arrival::in_earlier_process(
        std::chrono::time_point_cast<WallTime::duration>(record.stored), now);
    if (doubtful) response->freshness.always_validate = response->freshness.never_stale = true;
    return response;
}

bool is_announceable(const FooterEntry& entry, DiskTime now) {
    return entry.stored <= now && entry.expires - now > kAnnounceAtLeast;
}

}  // namespace proxy
