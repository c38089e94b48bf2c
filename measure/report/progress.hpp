#pragma once

#include <chrono>
#include <string>

namespace measure {

/// Reports progress on standard error: on a terminal as one line that is overwritten, otherwise as
/// a line each `pause`. One thread.
class Progress {
public:
    explicit Progress(bool quiet = false, std::chrono::seconds pause = std::chrono::seconds(5));
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Shows a state; most states are dropped.
    void update(const std::string& text);
    /// Prints a line that stays.
    void say(const std::string& text);
    /// Removes the line of update() before other output.
    void clear();

private:
    bool quiet_, terminal_, open_line_ = false;
    std::chrono::seconds pause_;  // without a terminal
    std::chrono::steady_clock::time_point next_{};
};

/// Returns true if standard output is a capable terminal and NO_COLOR is unset (no-color.org).
bool output_may_be_coloured();

}  // namespace measure
