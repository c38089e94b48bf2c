#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace measure {

/// Longest line in bytes. The reader drops the rest of a longer line.
inline constexpr std::size_t kMaxLineBytes = 64 * 1024;

/// Reads a text file line by line, plain or gzip; the first bytes decide which. "-" is standard
/// input. Memory: one line. Throws std::runtime_error that names the file if it cannot be opened or
/// its compressed data are damaged.
class LineReader {
public:
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(LineReader&&) noexcept;
    LineReader& operator=(LineReader&&) noexcept;

    /// Reads the next line without its end ("\n" or "\r\n"). The view is valid until the next call.
    /// Returns false at the end.
    bool next(std::string_view& line);

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
    std::string line_;
};

}  // namespace measure
