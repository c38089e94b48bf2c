#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/record.hpp"

namespace proxy::test {

/// A directory that goes with this object.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        auto pattern = (std::filesystem::temp_directory_path() / "hearsay-disk-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Bytes that follow from a number.
inline std::string made_body(std::uint64_t seed, std::size_t size) {
    std::string body(size, '\0');
    auto word = seed * 0x9e3779b97f4a7c15 + 1;
    for (auto& byte : body) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        byte = static_cast<char>(word);
    }
    return body;
}

inline iovec part(std::string_view text) {
    return {const_cast<char*>(text.data()), text.size()};
}

inline DiskView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// A response with every field filled.
inline Record response(std::string_view uri, std::uint64_t seq, std::string_view body) {
    Record record;
    record.seq = seq;
    record.stored = DiskTime(std::chrono::milliseconds(1'700'000'000'123));
    record.expires = DiskTime(std::chrono::milliseconds(1'700'000'060'123));
    record.uri = uri;
    record.vary_names = "accept-encoding";
    record.variant = "gzip\n";
    record.meta = "\x01\x02\x03";
    record.head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\n";
    record.tags = {{1, 2}, {3, 4}};
    record.body_bytes = body.size();
    return record;
}

inline Record tombstone(RecordType type, std::uint64_t seq, std::string_view uri = {},
                        std::vector<summary::KeyHash> tags = {}) {
    Record record;
    record.type = type;
    record.seq = seq;
    record.uri = uri;
    record.tags = std::move(tags);
    return record;
}

}  // namespace proxy::test
