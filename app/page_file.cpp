#include "app/page_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "measure/trace/printable.hpp"

namespace app {
namespace {

constexpr mode_t kMode = 0666;  // less the umask

[[noreturn]] void refuse_page(const std::string& path, int error) {
    throw std::runtime_error(fmt::format("cannot write the page {}: {}", measure::printable(path),
                                         std::strerror(error)));
}

std::string shell_word(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";
    const bool is_plain = !word.empty() && word.find_first_not_of(kPlain) == word.npos;
    if (is_plain) return std::string(word);
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

}  // namespace

PageFile::PageFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    is_new_ = fd_ >= 0;
    if (fd_ < 0 && errno == EEXIST) fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse_page(path_, errno);
}

PageFile::~PageFile() {
    if (fd_ >= 0) ::close(fd_);
    if (is_new_) ::unlink(path_.c_str());
}

void PageFile::write(const std::string& text) {
    struct stat facts {};
    const bool is_regular = ::fstat(fd_, &facts) == 0 && S_ISREG(facts.st_mode);
    if (is_regular && ::ftruncate(fd_, 0) != 0) refuse_page(path_, errno);
    std::size_t written = 0;
    while (written < text.size()) {
        const auto got = ::write(fd_, text.data() + written, text.size() - written);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_page(path_, errno);
        written += static_cast<std::size_t>(got);
    }
    is_new_ = false;
    if (::close(std::exchange(fd_, -1)) != 0) refuse_page(path_, errno);
}

std::string shell_text(int argc, const char* const* argv) {
    std::string out;
    for (int i = 0; i < argc; ++i) {
        std::string_view word = argv[i];
        if (i == 0) word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0
        out += (i > 0 ? " " : "") + shell_word(word);
    }
    return out;
}

}  // namespace app
