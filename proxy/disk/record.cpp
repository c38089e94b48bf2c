#include "proxy/disk/record.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <memory>

namespace proxy {
namespace {

constexpr std::uint32_t kMagic = 0x52527348;  // "HsRR"
constexpr std::size_t kChecksumAt = 56;
constexpr std::size_t kSliceSumBytes = 8;

struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using State = std::unique_ptr<XXH3_state_t, FreeState>;

std::uint64_t slices_in(std::uint64_t body) {
    return (body + kRecordSliceBytes - 1) / kRecordSliceBytes;
}

/// The checksum of all bytes before the body, apart from itself.
std::uint64_t checksum_of(DiskView prefix, RecordHome home) {
    const State state(XXH3_createState());
    XXH3_64bits_reset_withSeed(state.get(), home.directory);
    XXH3_64bits_update(state.get(), prefix.data(), kChecksumAt);
    XXH3_64bits_update(state.get(), prefix.data() + kRecordHeaderBytes,
                       prefix.size() - kRecordHeaderBytes);
    return XXH3_64bits_digest(state.get());
}

/// Appends one checksum for each slice.
void put_slices(std::span<const iovec> body, RecordHome home, DiskBytes& out) {
    const State state(XXH3_createState());
    XXH3_64bits_reset_withSeed(state.get(), home.directory);
    std::uint64_t in_slice = 0;
    const auto end_slice = [&] {
        put<std::uint64_t>(out, XXH3_64bits_digest(state.get()));
        XXH3_64bits_reset_withSeed(state.get(), home.directory);
        in_slice = 0;
    };
    for (const auto& part : body) {
        const auto* bytes = static_cast<const std::byte*>(part.iov_base);
        for (std::size_t at = 0; at < part.iov_len;) {
            const auto more =
                std::min<std::uint64_t>(part.iov_len - at, kRecordSliceBytes - in_slice);
            XXH3_64bits_update(state.get(), bytes + at, more);
            at += more;
            in_slice += more;
            if (in_slice == kRecordSliceBytes) end_slice();
        }
    }
    if (in_slice > 0) end_slice();
}

/// The numbers of the header, in their order.
struct Header {
    std::uint32_t magic, segment;
    std::uint64_t seq;
    std::int64_t stored, expires;
    std::uint32_t uri, variant, head, body;
    std::uint16_t vary_names, meta, tags;
    std::uint8_t type, zero;
    std::uint64_t checksum;

    std::uint64_t prefix() const {
        return kRecordHeaderBytes + slices_in(body) * kSliceSumBytes + tags * kHashBytes +
               std::uint64_t{uri} + vary_names + variant + meta + head;
    }
};

Header read_header(DiskView bytes) {
    ByteCursor in(bytes);
    Header h{};
    h.magic = in.number<std::uint32_t>();
    h.segment = in.number<std::uint32_t>();
    h.seq = in.number<std::uint64_t>();
    h.stored = in.number<std::int64_t>();
    h.expires = in.number<std::int64_t>();
    h.uri = in.number<std::uint32_t>();
    h.variant = in.number<std::uint32_t>();
    h.head = in.number<std::uint32_t>();
    h.body = in.number<std::uint32_t>();
    h.vary_names = in.number<std::uint16_t>();
    h.meta = in.number<std::uint16_t>();
    h.tags = in.number<std::uint16_t>();
    h.type = in.number<std::uint8_t>();
    h.zero = in.number<std::uint8_t>();
    h.checksum = in.number<std::uint64_t>();
    assert(in.ok() && in.rest().empty());
    return h;
}

}  // namespace

std::optional<RecordType> record_type(std::uint8_t number) {
    if (number < static_cast<std::uint8_t>(RecordType::response) ||
        number > static_cast<std::uint8_t>(RecordType::all_gone))
        return std::nullopt;
    return static_cast<RecordType>(number);
}

std::uint64_t variant_hash(std::string_view vary_names, std::string_view variant) {
    if (vary_names.empty()) return 0;
    return XXH3_64bits_withSeed(variant.data(), variant.size(),
                                XXH3_64bits(vary_names.data(), vary_names.size()));
}

DiskResult<RecordSizes> sizes_of(const Record& record) {
    constexpr std::size_t kShort = 0xffff;
    if (record.vary_names.size() > kShort || record.meta.size() > kShort ||
        record.tags.size() > kMaxRecordTags || record.uri.size() > kMaxRecordHead ||
        record.variant.size() > kMaxRecordHead || record.head.size() > kMaxRecordHead ||
        record.body_bytes > kMaxRecordBody)
        return DiskError::too_large;
    const RecordSizes sizes{kRecordHeaderBytes + slices_in(record.body_bytes) * kSliceSumBytes +
                                record.tags.size() * kHashBytes + record.uri.size() +
                                record.vary_names.size() + record.variant.size() +
                                record.meta.size() + record.head.size(),
                            record.body_bytes};
    if (sizes.prefix > kMaxRecordHead) return DiskError::too_large;
    return sizes;
}

void encode_record(const Record& record, std::span<const iovec> body, RecordHome home,
                   DiskBytes& out) {
    const auto begin = out.size();
    const auto length = [](std::string_view text) {
        return static_cast<std::uint32_t>(text.size());
    };
    const auto brief = [](std::size_t size) { return static_cast<std::uint16_t>(size); };
    put<std::uint32_t>(out, kMagic);
    put<std::uint32_t>(out, home.segment);
    put<std::uint64_t>(out, record.seq);
    put<std::int64_t>(out, record.stored.time_since_epoch().count());
    put<std::int64_t>(out, record.expires.time_since_epoch().count());
    put<std::uint32_t>(out, length(record.uri));
    put<std::uint32_t>(out, length(record.variant));
    put<std::uint32_t>(out, length(record.head));
    put<std::uint32_t>(out, static_cast<std::uint32_t>(record.body_bytes));
    put<std::uint16_t>(out, brief(record.vary_names.size()));
    put<std::uint16_t>(out, brief(record.meta.size()));
    put<std::uint16_t>(out, brief(record.tags.size()));
    put<std::uint8_t>(out, static_cast<std::uint8_t>(record.type));
    put<std::uint8_t>(out, 0);
    put<std::uint64_t>(out, 0);  // the checksum, below
    assert(out.size() - begin == kRecordHeaderBytes);
    put_slices(body, home, out);
    for (const auto& tag : record.tags) put_hash(out, tag);
    for (const auto text :
         {record.uri, record.vary_names, record.variant, record.meta, record.head})
        put_text(out, text);
    const auto prefix = std::span(out).subspan(begin);
    put_at<std::uint64_t>(prefix, kChecksumAt, checksum_of(prefix, home));
}

DiskResult<RecordSizes> peek_sizes(DiskView header) {
    if (header.size() < kRecordHeaderBytes) return DiskError::cut_off;
    const auto h = read_header(header.first(kRecordHeaderBytes));
    if (h.magic != kMagic) return DiskError::no_record;
    if (h.zero != 0 || !record_type(h.type)) return DiskError::bad_type;
    if (h.tags > kMaxRecordTags || h.body > kMaxRecordBody || h.prefix() > kMaxRecordHead)
        return DiskError::bad_length;
    return RecordSizes{h.prefix(), h.body};
}

DiskResult<Record> decode_record(DiskView bytes, RecordHome home) {
    const auto sizes = peek_sizes(bytes);
    if (!sizes) return sizes.error();
    if (bytes.size() < sizes->prefix) return DiskError::cut_off;
    const auto prefix = bytes.first(sizes->prefix);
    const auto h = read_header(prefix.first(kRecordHeaderBytes));
    if (h.segment != home.segment || h.checksum != checksum_of(prefix, home))
        return DiskError::bad_checksum;
    Record record;
    record.type = static_cast<RecordType>(h.type);
    record.seq = h.seq;
    record.stored = DiskTime(std::chrono::milliseconds(h.stored));
    record.expires = DiskTime(std::chrono::milliseconds(h.expires));
    record.body_bytes = h.body;
    ByteCursor in(prefix.subspan(kRecordHeaderBytes));
    record.slices.resize(slices_in(h.body));
    for (auto& slice : record.slices) slice = in.number<std::uint64_t>();
    record.tags.resize(h.tags);
    for (auto& tag : record.tags) tag = in.hash();
    record.uri = in.text(h.uri);
    record.vary_names = in.text(h.vary_names);
    record.variant = in.text(h.variant);
    record.meta = in.text(h.meta);
    record.head = in.text(h.head);
    if (!in.ok() || !in.rest().empty()) return DiskError::bad_length;
    return record;
}

bool slice_agrees(std::uint64_t checksum, DiskView bytes, RecordHome home) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), home.directory) == checksum;
}

bool body_agrees(const Record& record, DiskView body, RecordHome home) {
    if (body.size() != record.body_bytes) return false;
    for (std::uint64_t slice = 0; slice < record.slices.size(); ++slice) {
        const auto begin = slice * kRecordSliceBytes;
        const auto length = std::min<std::uint64_t>(kRecordSliceBytes, body.size() - begin);
        if (!slice_agrees(record.slices[slice], body.subspan(begin, length), home)) return false;
    }
    return true;
}

}  // namespace proxy
