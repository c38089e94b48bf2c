#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "proxy/disk/segment_log.hpp"
#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {

/// The directory of a cache, as a node leaves it when it ends or is killed.
class DiskFolder {
public:
    static constexpr std::uint64_t kSegment = 64 * 1024, kSecret = 5;

    DiskFolder() {
        auto taken = SuperFile::take(calls_, path(), kSecret);
        EXPECT_TRUE(taken);
        id_ = taken->directory_id();
        super_ = std::move(*taken);
        log_ = make();
    }

    const std::filesystem::path& path() const { return directory_.path(); }
    std::filesystem::path segment(std::uint32_t number) const {
        return path() / segment_name(number);
    }

    /// Writes a record, whose seq is the next one.
    RecordLocation put(Record record, std::string_view body = {}) {
        record.seq = ++seq_;
        record.body_bytes = body.size();
        EXPECT_FALSE(log_->make_room(*sizes_of(record), footer_bytes(record)));
        const iovec bytes = part(body);
        const auto place = log_->add(record, {&bytes, 1});
        EXPECT_FALSE(log_->flush());
        return place;
    }
    void seal() { EXPECT_FALSE(log_->seal()); }
    /// The node ends; its unfinished segment stays unsealed, as after a kill.
    void leave() {
        log_.reset();
        super_.reset();
    }
    /// Flips a byte of a record's body.
    void spoil(RecordLocation place, std::uint64_t beyond) const {
        std::fstream file(segment(place.segment), std::ios::in | std::ios::out | std::ios::binary);
        const auto at = static_cast<std::streamoff>(place.sector * kDiskSector + beyond);
        file.seekg(at);
        const auto byte = static_cast<char>(file.get() ^ 1);
        file.seekp(at);
        file.put(byte);
    }
    /// Names, sizes and bytes of all there is.
    std::string all() const {
        std::vector<std::filesystem::path> files;
        for (const auto& each : std::filesystem::directory_iterator(path()))
            files.push_back(each.path());
        std::ranges::sort(files);
        std::string text;
        for (const auto& each : files) {
            std::ifstream in(each, std::ios::binary);
            text += each.filename().string();
            text.append(std::istreambuf_iterator<char>(in), {});
        }
        return text;
    }

private:
    std::unique_ptr<SegmentLog> make() {
        const SegmentLog::Config config{path(), id_, 64 * kSegment, kSegment, 1};
        ReclaimHooks nothing;
        nothing.uses = [](const FooterEntry&, RecordLocation) { return std::nullopt; };
        nothing.dropped = [](const FooterEntry&, RecordLocation) {};
        return std::make_unique<SegmentLog>(calls_, config, nothing);
    }

    TemporaryDirectory directory_;
    DiskCalls calls_;
    std::optional<SuperFile> super_;
    std::uint64_t id_ = 0, seq_ = 0;
    std::unique_ptr<SegmentLog> log_;
};

}  // namespace proxy::test
