#pragma once

#include <signal.h>
#include <termios.h>

#include <string_view>

#include "app/top_view.hpp"

namespace app {

/// The terminal of standard output as a screen of its own, with keys that need no Return. The
/// constructor takes it over, and the destructor gives it back as it was. Signals that would end or
/// stop the process are blocked meanwhile and come as values, so the terminal is given back in all
/// of these cases. One object at a time, on the main thread; threads that start later inherit the
/// blocked signals. Errors of the constructor throw std::system_error.
class Terminal {
public:
    /// Whether standard output is a terminal that can show a screen.
    static bool is_there();

    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    enum class Event {
        nothing,  // the time has passed, or a key without a meaning
        ready,    // `other` is readable
        resized,  // or back after a stop: the screen has to be drawn anew
        end,      // q, the end of the input, or a signal to end
    };
    /// Waits for one event. `other`: a further descriptor to wait for.
    Event wait(int other);

    /// `rows` and `columns` of the screen, at least 1.
    TopSize size() const;
    /// Returns false if the terminal has gone.
    bool write(std::string_view bytes);

private:
    void enter();
    void leave();
    Event read_keys();
    Event read_signal();

    termios before_{};  // before has_keys_, whose initializer fills it
    bool has_keys_;
    sigset_t unblocked_{};
    int signals_ = -1;
};

}  // namespace app
