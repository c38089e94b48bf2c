#pragma once

#include <chrono>
#include <string>

namespace measure {

/// Tells on standard error how far something is: on a terminal one line that is written over, else
/// a line every few seconds. One thread.
class Progress {
public:
    explicit Progress(bool quiet = false);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// The state of something under way; may be dropped.
    void update(const std::string& text);
    /// A line that stays.
    void say(const std::string& text);
    /// Takes away what update() left on the line, before others write there.
    void clear();

private:
    bool quiet_, terminal_, open_line_ = false;
    std::chrono::steady_clock::time_point next_{};
};

/// May standard output carry colour? A terminal that is not dumb, and NO_COLOR not set
/// (no-color.org).
bool output_may_be_coloured();

}  // namespace measure
