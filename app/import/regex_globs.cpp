#include "app/import/regex_globs.hpp"

#include <algorithm>

#include "proxy/http/path_readings.hpp"

namespace app {
namespace {

constexpr std::size_t kMostGlobs = 64, kMostGlobBytes = 512, kMostGroups = 16;
constexpr char kBegin = '\x01', kEnd = '\x02';  // the anchors inside of unfinished texts

using Texts = std::vector<std::string>;

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

class RegexReader {
public:
    RegexReader(std::string_view regex, RegexGlobs& out) : rest_(regex), out_(out) {}

    std::optional<Texts> run() {
        auto texts = alternatives(0);
        if (!rest_.empty() || failed_) return std::nullopt;
        return texts;
    }

private:
    Texts alternatives(std::size_t depth) {
        Texts all;
        if (depth > kMostGroups) failed_ = true;
        for (;;) {
            for (auto& text : sequence(depth)) all.push_back(std::move(text));
            if (all.size() > kMostGlobs) failed_ = true;
            if (failed_ || rest_.empty() || rest_.front() != '|') return all;
            rest_.remove_prefix(1);
        }
    }

    Texts sequence(std::size_t depth) {
        Texts so_far{""};
        while (!failed_ && !rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
            const bool is_dot = rest_.front() == '.';
            auto next = atom(depth);
            if (failed_) break;
            const char after = rest_.empty() ? '\0' : rest_.front();
            if (after == '*' || after == '+') {
                rest_.remove_prefix(1);
                if (!is_dot) failed_ = true;
                if (after == '+') out_.wider = true;
                if (!rest_.empty() && rest_.front() == '?') rest_.remove_prefix(1);  // not greedy
                next = {"*"};
            } else if (after == '?') {
                rest_.remove_prefix(1);
                if (is_dot) failed_ = true;
                next.emplace_back();
            } else if (after == '{') {
                failed_ = true;
            } else if (is_dot) {
                out_.narrower = true;
            }
            so_far = joined(so_far, next);
        }
        return so_far;
    }

    Texts joined(const Texts& left, const Texts& right) {
        Texts all;
        if (left.size() * right.size() > kMostGlobs) failed_ = true;
        if (failed_) return all;
        for (const auto& a : left)
            for (const auto& b : right) {
                all.push_back(a + b);
                if (all.back().size() > kMostGlobBytes) failed_ = true;
            }
        return all;
    }

    Texts atom(std::size_t depth) {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        switch (c) {
            case '^':
                return {std::string(1, kBegin)};
            case '$':
                return {std::string(1, kEnd)};
            case '(':
                return group(depth);
            case '[':
                return byte_class();
            case '\\':
                return escape();
            case '*':
            case '+':
            case '?':
            case '{':
            case kBegin:
            case kEnd:
                failed_ = true;
                return {};
            default:
                return {std::string(1, c)};
        }
    }

    Texts group(std::size_t depth) {
        if (rest_.starts_with("?:")) rest_.remove_prefix(2);
        if (rest_.starts_with('?')) failed_ = true;
        if (failed_) return {};
        auto texts = alternatives(depth + 1);
        if (rest_.empty())
            failed_ = true;
        else
            rest_.remove_prefix(1);
        return texts;
    }

    Texts byte_class() {
        const auto end = rest_.find(']');
        const auto bytes = rest_.substr(0, end);
        if (end == std::string_view::npos || bytes.empty() || bytes.size() > 8 ||
            bytes.find_first_of("-^[\\*") != std::string_view::npos) {
            failed_ = true;
            return {};
        }
        rest_.remove_prefix(end + 1);
        Texts texts;
        for (const char c : bytes) texts.emplace_back(1, c);
        return texts;
    }

    Texts escape() {
        if (rest_.empty() || is_letter_or_digit(rest_.front()) || rest_.front() == '*') {
            failed_ = true;
            return {};
        }
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return {std::string(1, c)};
    }

    std::string_view rest_;
    RegexGlobs& out_;
    bool failed_ = false;
};

/// The glob of a text with anchors. Nothing if an anchor stands in the middle.
std::optional<std::string> glob_of(std::string_view text) {
    std::string out(1, '*');
    if (text.starts_with(kBegin)) {
        out.clear();
        text.remove_prefix(1);
    }
    const bool ends = text.ends_with(kEnd);
    if (ends) text.remove_suffix(1);
    for (const char c : text) {
        if (c == kBegin || c == kEnd) return std::nullopt;
        if (c != '*' || !out.ends_with('*')) out.push_back(c);
    }
    if (!ends && !out.ends_with('*')) out.push_back('*');
    return out;
}

bool is_query_free(std::string_view glob) {
    return std::all_of(glob.begin(), glob.end(),
                       [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#'; });
}

bool is_host_glob(std::string_view host) {
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
        return is_letter_or_digit(c) || c == '.' || c == '-' || c == '*' || c == '_';
    });
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
}

}  // namespace

std::optional<RegexGlobs> globs_of_regex(std::string_view regex) {
    RegexGlobs out;
    const auto texts = RegexReader(regex, out).run();
    if (!texts) return std::nullopt;
    for (const auto& text : *texts) {
        auto glob = glob_of(text);
        if (!glob) return std::nullopt;
        if (std::find(out.globs.begin(), out.globs.end(), *glob) == out.globs.end())
            out.globs.push_back(std::move(*glob));
    }
    return out;
}

bool is_rule_path(std::string_view glob) {
    std::string scratch;
    return (glob.starts_with('/') || glob.starts_with('*')) && glob.size() <= 1024 &&
           is_query_free(glob) && proxy::path_for_rules(glob, scratch) == glob;
}

std::optional<UrlGlob> split_url_glob(std::string_view glob) {
    if (!is_query_free(glob)) return std::nullopt;
    UrlGlob out;
    bool has_scheme = false;
    for (const std::string_view scheme : {"http://", "https://", "http*://", "*://"})
        if (!has_scheme && glob.starts_with(scheme)) {
            glob.remove_prefix(scheme.size());
            has_scheme = true;
        }
    if (!has_scheme && !glob.starts_with('*')) return std::nullopt;  // another scheme
    if (glob == "*") return out;
    const auto slash = glob.find('/');
    if (slash != std::string_view::npos) {
        const auto host = glob.substr(0, slash);
        if (host != "*") out.host = lower_case(std::string(host));
        out.path = glob.substr(slash);
        if (host == "*" && !has_scheme) out.path.insert(0, "*");
        if (out.path == "/*") out.path.clear();
    } else if (has_scheme) {
        out.host = lower_case(std::string(glob));
        if (!out.host.ends_with('*')) return std::nullopt;  // a URL without a path never ends there
        if (out.host.size() > 1 && glob.find('.') != std::string_view::npos) out.host.pop_back();
    } else if (!glob.ends_with('*')) {
        out.path = glob;  // the end of the URL
    } else {
        // `*.gif*` is a kind of file, `*.example.com*` and `*example.com*` are hosts.
        const auto inner = glob.substr(1, glob.size() - 2);
        if (inner.find('.', 1) != std::string_view::npos)
            out.host = lower_case("*" + std::string(inner));
        else
            out.path = glob;
    }
    if (!out.host.empty() && !is_host_glob(out.host)) return std::nullopt;
    if (!out.path.empty() && !is_rule_path(out.path)) return std::nullopt;
    return out;
}

}  // namespace app
