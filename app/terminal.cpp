#include "app/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace app {
namespace {

constexpr int kWait = 1000;  // milliseconds

[[noreturn]] void throw_last(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

sigset_t handled_signals() {
    sigset_t out;
    sigemptyset(&out);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGPIPE})
        sigaddset(&out, each);
    return out;
}

}  // namespace

bool Terminal::is_there() {
    const char* kind = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
           std::string_view(kind) != "dumb";
}

Terminal::Terminal()
    : has_keys_(::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    const auto handled = handled_signals();
    if (::pthread_sigmask(SIG_BLOCK, &handled, &unblocked_) != 0) throw_last("signals");
    signals_ = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) {
        ::pthread_sigmask(SIG_SETMASK, &unblocked_, nullptr);
        throw_last("signals");
    }
    enter();
}

Terminal::~Terminal() {
    leave();
    // A signal that came meanwhile has had its effect: the end.
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == sizeof info) continue;
    ::close(signals_);
    ::pthread_sigmask(SIG_SETMASK, &unblocked_, nullptr);
}

void Terminal::enter() {
    if (has_keys_) {
        auto raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays a signal
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    write("\x1b[?1049h\x1b[?25l");  // the other screen, without a cursor
}

void Terminal::leave() {
    write("\x1b[?25h\x1b[?1049l");
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Event Terminal::wait(int other) {
    std::array<pollfd, 3> all{pollfd{signals_, POLLIN, 0}, pollfd{other, POLLIN, 0},
                              pollfd{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(all.data(), all.size(), kWait) < 0) return Event::nothing;
    if (all[0].revents != 0) return read_signal();
    if (all[2].revents != 0) return read_keys();
    return all[1].revents != 0 ? Event::ready : Event::nothing;
}

Terminal::Event Terminal::read_keys() {
    std::array<char, 64> keys{};
    const auto size = ::read(STDIN_FILENO, keys.data(), keys.size());
    if (size < 0) return errno == EINTR || errno == EAGAIN ? Event::nothing : Event::end;
    const auto end = keys.begin() + size;
    const auto ends = [](char key) { return key == 'q' || key == 'Q' || key == '\x04'; };
    return size == 0 || std::any_of(keys.begin(), end, ends) ? Event::end : Event::nothing;
}

Terminal::Event Terminal::read_signal() {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) return Event::nothing;
    if (info.ssi_signo == SIGWINCH) return Event::resized;
    if (info.ssi_signo != SIGTSTP) return Event::end;
    leave();
    ::raise(SIGSTOP);
    enter();
    return Event::resized;
}

TopSize Terminal::size() const {
    winsize window{};
    TopSize out;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) {
        out.rows = 24;
        out.columns = 80;
        return out;
    }
    out.columns = window.ws_col;
    out.rows = std::max<std::size_t>(window.ws_row, 1);
    return out;
}

bool Terminal::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto taken = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (taken > 0)
            bytes.remove_prefix(static_cast<std::size_t>(taken));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

}  // namespace app
