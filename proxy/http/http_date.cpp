#include "proxy/http/http_date.hpp"

#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

namespace proxy {

namespace {

constexpr std::size_t kFixdateLength = std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size();

constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// The first three letters as a number, in any letter case. Stored responses have several dates
/// each, and numbers compare faster with twelve names than text does.
constexpr std::uint32_t three_letters(std::string_view text) {
    std::uint32_t letters = 0;
    for (const char c : text.substr(0, 3))
        letters = letters << 8 | (static_cast<unsigned char>(c) | 0x20U);
    return letters;
}

template <std::size_t count>
constexpr auto by_letters(const std::array<std::string_view, count>& names) {
    std::array<std::uint32_t, count> letters{};
    for (std::size_t i = 0; i < count; ++i) letters[i] = three_letters(names[i]);
    return letters;
}
constexpr auto kDayLetters = by_letters(kDays);
constexpr auto kMonthLetters = by_letters(kMonths);

/// Parses a date from the left. After the first mismatch all further steps fail.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool literal(std::string_view text) {
        if (!iequals(rest_.substr(0, text.size()), text)) return ok_ = false;
        rest_.remove_prefix(text.size());
        return ok_;
    }

    int digits(std::size_t count) {
        if (rest_.size() < count) return fail();
        int value = 0;
        for (const char c : rest_.substr(0, count)) {
            if (c < '0' || c > '9') return fail();
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(count);
        return value;
    }

    /// One digit, or two.
    int day() { return digits(rest_.size() > 1 && rest_[1] == ' ' ? 1 : 2); }
    bool ends_with_offset() const { return rest_.ends_with('0'); }

    /// asctime's day: two digits, or a space and one.
    int space_padded_day() {
        if (!rest_.empty() && rest_.front() == ' ') {
            rest_.remove_prefix(1);
            return digits(1);
        }
        return digits(2);
    }

    void short_day() {
        const auto name = rest_.substr(0, 3);
        if (std::find(kDayLetters.begin(), kDayLetters.end(), three_letters(name)) ==
            kDayLetters.end())
            fail();
        rest_.remove_prefix(name.size());
    }

    void long_day() {
        for (const auto day : kDays) {
            if (iequals(rest_.substr(0, day.size()), day)) return rest_.remove_prefix(day.size());
        }
        fail();
    }

    unsigned month() {
        const auto found = std::find(kMonthLetters.begin(), kMonthLetters.end(),
                                     three_letters(rest_.substr(0, 3)));
        if (found == kMonthLetters.end()) return static_cast<unsigned>(fail());
        rest_.remove_prefix(3);
        return static_cast<unsigned>(found - kMonthLetters.begin()) + 1;
    }

    std::chrono::seconds time_of_day() {
        const int hour = digits(2);
        literal(":");
        const int minute = digits(2);
        literal(":");
        const int second = digits(2);  // 60 is a leap second
        if (hour > 23 || minute > 59 || second > 60) fail();
        return std::chrono::hours(hour) + std::chrono::minutes(minute) +
               std::chrono::seconds(second);
    }

    bool done() const { return ok_ && rest_.empty(); }

private:
    int fail() {
        ok_ = false;
        return 0;
    }

    std::string_view rest_;
    bool ok_ = true;
};

struct Parts {
    int year = 0;
    unsigned month = 0;
    int day = 0;
    std::chrono::seconds time{0};

    std::optional<WallTime> time_point() const {
        const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                               std::chrono::day(static_cast<unsigned>(day))};
        if (!date.ok()) return std::nullopt;
        return WallTime(std::chrono::sys_days(date)) + time;
    }
};

// Sun, 06 Nov 1994 08:49:37 GMT. Mail software writes the same in the forms of RFC 5322 §3.3, with
// a day of one digit, or `+0000` for GMT: both have one meaning.
std::optional<WallTime> parse_imf_fixdate(std::string_view text) {
    Reader in(text);
    Parts parts;
    in.short_day();
    in.literal(", ");
    parts.day = in.day();
    in.literal(" ");
    parts.month = in.month();
    in.literal(" ");
    parts.year = in.digits(4);
    in.literal(" ");
    parts.time = in.time_of_day();
    in.literal(in.ends_with_offset() ? " +0000" : " GMT");
    return in.done() ? parts.time_point() : std::nullopt;
}

/// The same for a date that this thread may have read just now: the servers of a moment write one
/// Date, and a response is asked for it twice. That takes 40 instructions in place of 900.
std::optional<WallTime> parse_repeated_date(std::string_view text) {
    static thread_local std::array<char, kFixdateLength> last_text{};
    static thread_local WallTime last_time;
    if (text.size() != kFixdateLength) return parse_imf_fixdate(text);
    if (text == std::string_view(last_text.data(), last_text.size())) return last_time;
    const auto time = parse_imf_fixdate(text);
    if (!time) return time;
    std::copy(text.begin(), text.end(), last_text.begin());
    last_time = *time;
    return time;
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<WallTime> parse_rfc850(std::string_view text, WallTime now) {
    Reader in(text);
    Parts parts;
    in.long_day();
    in.literal(", ");
    parts.day = in.digits(2);
    in.literal("-");
    parts.month = in.month();
    in.literal("-");
    const int two_digits = in.digits(2);
    in.literal(" ");
    parts.time = in.time_of_day();
    in.literal(" GMT");
    if (!in.done()) return std::nullopt;

    const auto today = std::chrono::floor<std::chrono::days>(now);
    const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
    parts.year = this_year - this_year % 100 + two_digits;
    if (parts.year < this_year - 49) parts.year += 100;
    if (parts.year > this_year + 50) parts.year -= 100;
    return parts.time_point();
}

// Sun Nov  6 08:49:37 1994
std::optional<WallTime> parse_asctime(std::string_view text) {
    Reader in(text);
    Parts parts;
    in.short_day();
    in.literal(" ");
    parts.month = in.month();
    in.literal(" ");
    parts.day = in.space_padded_day();
    in.literal(" ");
    parts.time = in.time_of_day();
    in.literal(" ");
    parts.year = in.digits(4);
    return in.done() ? parts.time_point() : std::nullopt;
}

void append_number(std::string& out, int value, int width) {
    std::array<char, 4> digits{};
    for (int i = width - 1; i >= 0; --i, value /= 10) {
        digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
    }
    out.append(digits.data(), static_cast<std::size_t>(width));
}

}  // namespace

std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) {
    if (text.size() < 4) return std::nullopt;
    if (text[3] == ',') return parse_repeated_date(text);
    if (text[3] == ' ') return parse_asctime(text);
    return parse_rfc850(text, now);
}

void append_http_date(std::string& out, WallTime time) {
    using namespace std::chrono;
    static constexpr WallTime kFirst = sys_days(year(0) / January / 1);
    static constexpr WallTime kLast = sys_days(year(10'000) / January / 1) - seconds(1);
    time = std::clamp(time, kFirst, kLast);
    const auto date = floor<days>(time);
    const year_month_day calendar(date);
    const hh_mm_ss clock(time - date);

    out.append(kDays[weekday(date).c_encoding()].substr(0, 3)).append(", ");
    append_number(out, static_cast<int>(static_cast<unsigned>(calendar.day())), 2);
    out.append(" ").append(kMonths[static_cast<unsigned>(calendar.month()) - 1]).append(" ");
    append_number(out, static_cast<int>(calendar.year()), 4);
    out.append(" ");
    append_number(out, static_cast<int>(clock.hours().count()), 2);
    out.append(":");
    append_number(out, static_cast<int>(clock.minutes().count()), 2);
    out.append(":");
    append_number(out, static_cast<int>(clock.seconds().count()), 2);
    out.append(" GMT");
}

std::string rfc3339(WallTime time) {
    const std::time_t seconds = time.time_since_epoch().count();
    std::tm utc{};
    if (!::gmtime_r(&seconds, &utc)) return {};
    std::array<char, 32> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {text.data(), size};
}

}  // namespace proxy
