#include "measure/trace/line_reader.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "measure/trace/printable.hpp"

namespace measure {
namespace {

constexpr unsigned kBufferBytes = 256 * 1024;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error(printable(path) + ": " + why);
}

}  // namespace

struct LineReader::Stream {
    std::string path;
    gzFile file = nullptr;
    std::string buffer;
    std::size_t begin = 0, end = 0;

    ~Stream() {
        if (file) gzclose(file);
    }

    bool fill() {
        const int got = gzread(file, buffer.data(), kBufferBytes);
        int code = Z_OK;
        const char* text = gzerror(file, &code);
        // zlib reports a truncated gzip file only through its error state.
        if (got < 0 || (got == 0 && code == Z_BUF_ERROR)) {
            fail(path, code == Z_ERRNO ? std::strerror(errno)
                       : code == Z_BUF_ERROR
                           ? std::string("the compressed file ends too early")
                           : std::string("damaged compressed data (") + text + ")");
        }
        begin = 0;
        end = static_cast<std::size_t>(got);
        return got > 0;
    }
};

LineReader::LineReader(const std::string& path) : stream_(std::make_unique<Stream>()) {
    stream_->path = path == "-" ? "standard input" : path;
    errno = 0;
    stream_->file = path == "-" ? gzdopen(::dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
    if (!stream_->file) fail(stream_->path, errno ? std::strerror(errno) : "out of memory");
    gzbuffer(stream_->file, kBufferBytes);
    stream_->buffer.resize(kBufferBytes);
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

bool LineReader::next(std::string_view& line) {
    line_.clear();
    Stream& in = *stream_;
    for (;;) {
        if (in.begin == in.end && !in.fill()) {
            if (line_.empty()) return false;
            break;
        }
        const char* from = in.buffer.data() + in.begin;
        const std::size_t available = in.end - in.begin;
        const auto* newline = static_cast<const char*>(std::memchr(from, '\n', available));
        const std::size_t length = newline ? static_cast<std::size_t>(newline - from) : available;
        line_.append(from, std::min(length, kMaxLineBytes - line_.size()));
        in.begin += newline ? length + 1 : length;
        if (newline) break;
    }
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    line = line_;
    return true;
}

}  // namespace measure
