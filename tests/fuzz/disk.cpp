// The bytes that a disk gives back: records, footers and their finders.

#include "proxy/disk/footer.hpp"
#include "proxy/disk/segment.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace proxy;

constexpr RecordHome kHome{0x0102030405060708, 7};
constexpr SegmentHeader kHeader{kHome, 1 << 20};

/// A record that agrees is read back as it was written. `record` views `bytes`.
void check_record(const Record& record, DiskView bytes) {
    const auto sizes = sizes_of(record);
    FUZZ_CHECK(sizes && sizes->prefix <= bytes.size() && peek_sizes(bytes).value() == *sizes);
    for (const auto text :
         {record.uri, record.vary_names, record.variant, record.meta, record.head})
        FUZZ_CHECK(inside(text, as_text(bytes)));
    const auto body = bytes.subspan(sizes->prefix);
    if (body.size() < sizes->body || !body_agrees(record, body.first(sizes->body), kHome)) return;
    const iovec part{const_cast<std::byte*>(body.data()), sizes->body};
    DiskBytes again;
    encode_record(record, {&part, 1}, kHome, again);
    FUZZ_CHECK(std::ranges::equal(again, bytes.first(sizes->prefix)));
}

/// Fuzzers do not guess checksums, so bytes are read a second time as the texts of a record.
void check_made_record(DiskView bytes) {
    Record record;
    record.type = RecordType::response;
    const auto third = bytes.size() / 3;
    record.uri = as_text(bytes.first(third));
    record.variant = as_text(bytes.subspan(third, third));
    record.vary_names = record.variant.empty() ? "" : "accept";
    record.body_bytes = bytes.size() - 2 * third;
    const auto body = bytes.subspan(2 * third);
    const iovec part{const_cast<std::byte*>(body.data()), body.size()};
    DiskBytes made;
    encode_record(record, {&part, 1}, kHome, made);
    made.insert(made.end(), body.begin(), body.end());
    auto loaded = load_record(made, kHome);
    FUZZ_CHECK(loaded && loaded->record.uri == record.uri &&
               loaded->record.variant == record.variant && std::ranges::equal(loaded->body, body));
    made.back() ^= std::byte{1};  // of the body, or of the texts
    FUZZ_CHECK(!load_record(made, kHome));
    made.pop_back();
    FUZZ_CHECK(!load_record(made, kHome));
}

void check_footer(DiskView bytes, std::uint32_t entries) {
    const auto footer = bytes.first(bytes.size() / kDiskSector * kDiskSector);
    // With a trailer that agrees, only the judgement of its content is left.
    for (const auto at : {kDiskSector, 40 * kDiskSector, kHeader.bytes - kDiskSector}) {
        const auto trailer = decode_trailer(encode_trailer(footer, at, entries, kHeader), kHeader);
        if (!trailer) continue;
        FUZZ_CHECK(trailer->footer_at + trailer->footer_bytes + kDiskSector <= kHeader.bytes);
        const auto decoded =
            decode_footer(FooterBytes(footer.begin(), footer.end()), *trailer, kHeader);
        if (!decoded) continue;
        FUZZ_CHECK(decoded->entries.size() == entries);
        std::uint64_t end = 1;
        for (const auto& entry : decoded->entries) {
            FUZZ_CHECK(inside(entry.uri, as_text(decoded->bytes)));
            FUZZ_CHECK(entry.sector >= end && entry.sectors > 0);
            end = std::uint64_t{entry.sector} + entry.sectors;
        }
        FUZZ_CHECK(end * kDiskSector <= std::max<std::uint64_t>(at, kDiskSector));
    }
}

}  // namespace

/// First byte: how many entries a footer says that it has.
int fuzz_disk(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const DiskView bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    if (const auto record = decode_record(bytes, kHome)) check_record(*record, bytes);
    if (const auto header = decode_segment_header(bytes)) {
        const auto again = encode_segment_header(*header);
        FUZZ_CHECK(std::equal(again.begin(), again.begin() + 16, bytes.begin()));
    }
    (void)decode_trailer(bytes, kHeader);
    check_footer(bytes, data[0] % 16);
    check_made_record(bytes);
    return 0;
}
