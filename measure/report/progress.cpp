#include "measure/report/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace measure {
namespace {

bool dumb() {
    const char* term = std::getenv("TERM");
    return !term || std::strcmp(term, "dumb") == 0;
}

}  // namespace

Progress::Progress(bool quiet, std::chrono::seconds pause)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) && !dumb()),
      pause_(pause),
      next_(std::chrono::steady_clock::now() + pause_) {}

Progress::~Progress() {
    clear();
}

void Progress::clear() {
    if (open_line_) std::fputs("\r\x1b[K", stderr);
    open_line_ = false;
}

void Progress::update(const std::string& text) {
    if (quiet_) return;
    if (terminal_) {
        std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
        std::fflush(stderr);
        open_line_ = true;
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + pause_;
    std::fprintf(stderr, "%s\n", text.c_str());
}

void Progress::say(const std::string& text) {
    if (quiet_) return;
    clear();
    std::fprintf(stderr, "%s\n", text.c_str());
}

bool output_may_be_coloured() {
    const char* no_color = std::getenv("NO_COLOR");
    return ::isatty(STDOUT_FILENO) && !dumb() && !(no_color && *no_color);
}

}  // namespace measure
