#include "proxy/disk/footer.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace footer_test {

constexpr SegmentHeader kHeader{{0x1122334455667788, 7}, 1 << 20};

Pages<FooterEntry> some_entries() {
    static const auto a = test::response("http://a/", 3, "body"),
                      gone = test::tombstone(RecordType::gone, 5, {{7, 8}}),
                      b = test::response("http://b/", 4, {});
    return {footer_entry(a, 1, 2), footer_entry(gone, 3, 1), footer_entry(b, 10, 30)};
}

struct Sealed {
    FooterBytes footer;
    DiskBytes trailer;
};
Sealed sealed(std::span<const FooterEntry> entries, std::uint64_t at = 100 * kDiskSector) {
    Sealed made;
    for (const auto& entry : entries) put_entry(entry, made.footer);
    close_footer(made.footer);
    made.trailer =
        encode_trailer(made.footer, at, static_cast<std::uint32_t>(entries.size()), kHeader);
    return made;
}
DiskResult<Footer> opened(const Sealed& sealed) {
    const auto trailer = decode_trailer(sealed.trailer, kHeader);
    if (!trailer) return trailer.error();
    return decode_footer(sealed.footer, *trailer, kHeader);
}

TEST(DiskFooter, ComesBackAsItWasWritten) {
    const auto entries = some_entries();
    const auto made = sealed(entries);
    EXPECT_EQ(made.footer.size() % kDiskSector, 0u);
    auto back = opened(made);
    ASSERT_TRUE(back);
    const auto moved = std::move(*back);  // and views what it viewed
    EXPECT_EQ(moved.entries, entries);
    EXPECT_TRUE(opened(sealed({}))->entries.empty());
}

TEST(DiskFooter, HasTheSizeThatIsReckonedForIt) {
    const auto record = test::response("http://a/", 3, "body");
    std::uint64_t bytes = 0;
    Pages<FooterEntry> entries;
    for (std::uint32_t i = 0; i < 64; ++i) {
        entries.push_back(footer_entry(record, i + 1, 1));
        bytes += footer_bytes(record);
        ASSERT_EQ(footer_bytes(record), footer_bytes(entries.back()));
    }
    const auto made = sealed(entries);
    EXPECT_GE(made.footer.size(), bytes);
    EXPECT_LT(made.footer.size(), bytes + kDiskSector);
}

TEST(DiskFooter, NoticesEachBitThatFlips) {
    const auto good = sealed(some_entries());
    for (std::size_t bit = 0; bit < good.footer.size() * 8; ++bit) {
        auto bad = good;
        bad.footer[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_EQ(opened(bad).error(), DiskError::bad_checksum) << bit;
    }
    for (std::size_t bit = 0; bit < 48 * 8; ++bit) {  // what follows is zeros that nobody reads
        auto bad = good;
        bad.trailer[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(opened(bad)) << bit;
    }
}

TEST(DiskFooter, MayNotLeadOutOfItsSegment) {
    // Rightly summed, and wrong, as a faulty writer could leave it.
    EXPECT_EQ(opened(sealed(some_entries(), kHeader.bytes)).error(), DiskError::bad_length);
    EXPECT_EQ(opened(sealed(some_entries(), kHeader.bytes - kDiskSector)).error(),
              DiskError::bad_length);
    EXPECT_EQ(opened(sealed(some_entries(), 0)).error(), DiskError::bad_length);
    EXPECT_EQ(opened(sealed(some_entries(), 777)).error(), DiskError::bad_length);
    EXPECT_EQ(opened(sealed(some_entries(), ~std::uint64_t{511})).error(), DiskError::bad_length);
    // A record that reaches into the footer, or into the one before.
    EXPECT_EQ(opened(sealed(some_entries(), 39 * kDiskSector)).error(), DiskError::bad_length);
    auto entries = some_entries();
    entries[1].sector = 2;
    EXPECT_EQ(opened(sealed(entries)).error(), DiskError::bad_length);
    entries[0].sector = 0;
    EXPECT_EQ(opened(sealed(entries)).error(), DiskError::bad_length);
    entries = some_entries();
    entries[2].sectors = 0xffffffff;
    EXPECT_EQ(opened(sealed(entries)).error(), DiskError::bad_length);
}

TEST(DiskFooter, IsNotTakenForAnotherSegmentsOrForZeros) {
    const auto made = sealed(some_entries());
    auto other = kHeader;
    other.home.segment = 8;
    EXPECT_EQ(decode_trailer(made.trailer, other).error(), DiskError::bad_checksum);
    EXPECT_EQ(decode_trailer(DiskBytes(kDiskSector), kHeader).error(), DiskError::no_footer);
    for (std::size_t i = 0; i < 4; ++i) {  // there was one, whatever is left of its name
        auto spoilt = made.trailer;
        spoilt[i] = std::byte{0};
        EXPECT_EQ(decode_trailer(spoilt, kHeader).error(), DiskError::bad_checksum);
    }
    EXPECT_EQ(decode_trailer(DiskBytes(100), kHeader).error(), DiskError::cut_off);
}

TEST(SegmentHeader, ComesBackOrNamesItsFault) {
    const auto good = encode_segment_header(kHeader);
    ASSERT_EQ(good.size(), kDiskSector);
    EXPECT_EQ(decode_segment_header(good).value(), kHeader);
    for (std::size_t bit = 0; bit < 40 * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(decode_segment_header(bad)) << bit;
    }
    for (const auto bytes : {std::uint64_t{512}, std::uint64_t{1'000'000}, kMaxSegmentBytes + 512,
                             ~std::uint64_t{511}}) {
        const auto odd = encode_segment_header({kHeader.home, bytes});
        EXPECT_EQ(decode_segment_header(odd).error(), DiskError::bad_length) << bytes;
    }
    auto newer = good;
    put_at<std::uint32_t>(newer, 4, kDiskFormat + 1);
    EXPECT_EQ(decode_segment_header(newer).error(), DiskError::newer_format);
    EXPECT_EQ(decode_segment_header(DiskBytes(kDiskSector)).error(), DiskError::no_record);
    EXPECT_EQ(decode_segment_header(DiskView(good).first(511)).error(), DiskError::cut_off);
}

}  // namespace footer_test
}  // namespace proxy
