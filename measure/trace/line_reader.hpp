#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace measure {

/// Longest line that is read; the rest of a longer one is dropped.
inline constexpr std::size_t kMaxLineBytes = 64 * 1024;

/// Reads a text file line by line, plain or gzip (told apart by its first bytes); "-" is standard
/// input. Holds one line at a time. Throws std::runtime_error that names the file when it cannot
/// be opened or its compressed data are damaged.
class LineReader {
public:
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(LineReader&&) noexcept;
    LineReader& operator=(LineReader&&) noexcept;

    /// Next line without its end ("\n" or "\r\n"), valid until the next call. False at the end.
    bool next(std::string_view& line);

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::string line_;
};

}  // namespace measure
