#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace measure {

/// Builds a text of lines, removes trailing blanks, and adds terminal escapes if `colour` is set.
class Writer {
public:
    explicit Writer(bool colour) : colour_(colour) {}

    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        while (!out_.empty() && out_.back() == ' ') out_.pop_back();
        out_ += '\n';
    }
    /// Appends whole lines of another writer.
    void append(const std::string& lines) { out_ += lines; }
    void heading(const std::string& text) { line("{}", styled(text, "1")); }
    std::string good(const std::string& text) const { return styled(text, "32"); }
    std::string bad(const std::string& text) const { return styled(text, "31"); }
    std::string take() { return std::move(out_); }

private:
    std::string styled(const std::string& text, const char* code) const {
        return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
    }

    bool colour_;
    std::string out_;
};

}  // namespace measure
