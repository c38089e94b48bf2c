#include "proxy/disk/record.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace record_test {

using test::bytes_of;
using test::made_body;
using test::part;
using test::response;
using test::tombstone;

constexpr RecordHome kHome{0x1122334455667788, 7};

DiskBytes encoded(const Record& record, std::string_view body, RecordHome home = kHome) {
    DiskBytes out;
    const iovec parts[] = {part(body)};
    encode_record(record, parts, home, out);
    return out;
}

/// Only the results of encode_record() differ.
void expect_same(Record got, const Record& wanted) {
    got.slices.clear();
    EXPECT_EQ(got, wanted);
}

TEST(DiskRecord, ComesBackAsItWasWritten) {
    for (const std::size_t size : {0u, 1u, 511u, 256u * 1024u, 256u * 1024u + 1, 700'000u}) {
        const auto body = made_body(size, size);
        const auto record = response("http://a/x?y", 42, body);
        const auto prefix = encoded(record, body);
        const auto sizes = sizes_of(record);
        ASSERT_TRUE(sizes);
        EXPECT_EQ(sizes->prefix, prefix.size());
        EXPECT_EQ(sizes->total() % kDiskSector, 0u);
        EXPECT_EQ(peek_sizes(prefix).value(), *sizes);
        const auto back = decode_record(prefix, kHome);
        ASSERT_TRUE(back);
        expect_same(*back, record);
        EXPECT_EQ(back->slices.size(), (size + kRecordSliceBytes - 1) / kRecordSliceBytes);
        EXPECT_TRUE(body_agrees(*back, bytes_of(body), kHome));
    }
}

TEST(DiskRecord, KeepsTombstonesOfEachKind) {
    for (const auto& record :
         {tombstone(RecordType::gone, 9, {{5, 6}, {7, 8}}), tombstone(RecordType::all_gone, 11)}) {
        const auto bytes = encoded(record, {});  // which `back` views
        const auto back = decode_record(bytes, kHome);
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, record);
        EXPECT_TRUE(is_tombstone(back->type));
    }
    EXPECT_FALSE(is_tombstone(RecordType::block));
}

TEST(DiskRecord, SumsABodyThatComesInParts) {
    const auto body = made_body(1, 600'000);
    const auto record = response("http://a/", 1, body);
    std::vector<iovec> parts;
    for (std::size_t at = 0; at < body.size(); at += 77'777)
        parts.push_back(part(std::string_view(body).substr(at, 77'777)));
    DiskBytes in_parts;
    encode_record(record, parts, kHome, in_parts);
    EXPECT_EQ(in_parts, encoded(record, body));
}

TEST(DiskRecord, NoticesEachBitThatFlips) {
    const auto body = made_body(2, 1000);
    const auto good = encoded(response("http://a/", 1, body), body);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(decode_record(bad, kHome)) << bit;
    }
    const auto record = decode_record(good, kHome);
    ASSERT_TRUE(record);
    for (std::size_t bit = 0; bit < body.size() * 8; bit += 7) {
        auto bad = body;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(body_agrees(*record, bytes_of(bad), kHome)) << bit;
    }
}

TEST(DiskRecord, IsNoneWhenItIsCutOffAnywhere) {
    const auto good = encoded(response("http://a/", 1, {}), {});
    for (std::size_t size = 0; size < good.size(); ++size) {
        const auto cut = decode_record(DiskView(good).first(size), kHome);
        ASSERT_FALSE(cut);
        EXPECT_EQ(cut.error(), DiskError::cut_off) << size;
    }
}

TEST(DiskRecord, CountsOnlyWhereItWasWritten) {
    const auto bytes = encoded(response("http://a/", 1, {}), {});
    EXPECT_EQ(decode_record(bytes, {kHome.directory, 8}).error(), DiskError::bad_checksum);
    EXPECT_EQ(decode_record(bytes, {kHome.directory + 1, 7}).error(), DiskError::bad_checksum);
}

TEST(DiskRecord, NamesTheFaultOfAHeader) {
    const auto good = encoded(response("http://a/", 1, {}), {});
    const auto with = [&](std::size_t at, std::uint32_t number) {
        auto bad = good;
        put_at<std::uint32_t>(bad, at, number);
        return peek_sizes(bad);
    };
    EXPECT_EQ(with(0, 0).error(), DiskError::no_record);
    EXPECT_EQ(with(32, 0xffffffff).error(), DiskError::bad_length);  // URI
    EXPECT_EQ(with(36, kMaxRecordHead).error(), DiskError::bad_length);
    EXPECT_EQ(with(44, kMaxRecordBody + 1).error(), DiskError::bad_length);
    EXPECT_EQ(with(52, 5u << 16 | 2).error(), DiskError::bad_type);
    EXPECT_EQ(with(52, 2).error(), DiskError::bad_type);
    EXPECT_EQ(with(52, 1u << 16 | (kMaxRecordTags + 1)).error(), DiskError::bad_length);
}

TEST(DiskRecord, RefusesMoreThanItsLimits) {
    const std::string large(kMaxRecordHead + 1, 'x'), name(0x10000, 'n');
    auto record = response(large, 1, {});
    EXPECT_EQ(sizes_of(record).error(), DiskError::too_large);
    record = response("http://a/", 1, {});
    record.vary_names = name;
    EXPECT_EQ(sizes_of(record).error(), DiskError::too_large);
    record = response("http://a/", 1, {});
    record.body_bytes = kMaxRecordBody + 1;
    EXPECT_EQ(sizes_of(record).error(), DiskError::too_large);
    record.body_bytes = kMaxRecordBody;
    EXPECT_TRUE(sizes_of(record));
    record.tags.resize(kMaxRecordTags + 1);
    EXPECT_EQ(sizes_of(record).error(), DiskError::too_large);
}

// FORMAT.md has it byte for byte.
TEST(DiskRecord, IsWrittenAsTheFormatSays) {
    const std::string_view wanted =
        "487352520700000005000000000000000000000000000000000000000000000000000000"
        "00000000000000000000000000000000010003000c053a6dbf4e8702"
        "01000000000000000200000000000000";
    std::string hex;
    for (const auto byte :
         encoded(test::tombstone(RecordType::gone, 5, {{1, 2}}), {}, {0x0102030405060708, 7})) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(byte));
        hex += digits;
    }
    EXPECT_EQ(hex, wanted);
}

TEST(DiskRecord, DistinguishesVariants) {
    EXPECT_EQ(variant_hash("", ""), 0u);
    EXPECT_NE(variant_hash("accept", "a\n"), variant_hash("accept", "b\n"));
    EXPECT_NE(variant_hash("accept", "a\n"), variant_hash("accept-language", "a\n"));
}

}  // namespace record_test
}  // namespace proxy
