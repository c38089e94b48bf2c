#include "app/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "measure/trace/printable.hpp"

namespace app {

void write_new(const std::filesystem::path& file, const std::string& text, mode_t mode) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        throw std::runtime_error(
            fmt::format("{}: {}", measure::printable(file.string()), std::strerror(errno)));
    std::size_t written = 0;
    while (written < text.size()) {
        const auto got = ::write(fd, text.data() + written, text.size() - written);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        written += static_cast<std::size_t>(got);
    }
    const int error = errno;
    const bool closed = ::close(fd) == 0;
    if (written == text.size() && closed) return;
    throw std::runtime_error(
        fmt::format("{}: {}", measure::printable(file.string()), std::strerror(error)));
}

}  // namespace app
