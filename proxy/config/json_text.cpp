#include "proxy/config/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/text/utf8.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using Event = json::parse_event_t;

/// Follows the parser: where it is, and which keys it has seen there.
class Place {
public:
    /// The key that stands twice, if this one does: its path.
    std::string key(const std::string& key) {
        auto& object = open_.back();
        object.key = key;
        return object.keys.insert(key).second ? std::string() : path();
    }
    void value() {
        if (!open_.empty() && open_.back().is_array) ++open_.back().elements;
    }
    void begin(bool array) {
        value();
        open_.emplace_back().is_array = array;
    }
    void end() { open_.pop_back(); }

private:
    struct Open {
        bool is_array = false;
        std::size_t elements = 0;  // begun
        std::string key;           // the last
        std::set<std::string> keys;
    };

    std::string path() const {
        std::string path = "$";
        for (const auto& each : open_)
            path +=
                each.is_array ? '[' + std::to_string(each.elements - 1) + ']' : subscript(each.key);
        return path;
    }

    std::vector<Open> open_;
};

/// A common mistake in JSON, with its byte; no words for any other.
struct Fault {
    std::size_t at = 0;
    std::string what;
};

std::string place_of(std::string_view text, std::size_t at) {
    const auto before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto begins = before.rfind('\n');
    const auto column = begins == std::string_view::npos ? at : at - begins - 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column + 1);
}

/// Looks at the punctuation alone, whatever stands between.
class FaultFinder {
public:
    explicit FaultFinder(std::string_view text) : text_(text) {}

    Fault find() {
        while (at_ < text_.size()) {
            const auto c = text_[at_];
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
                ++at_;
                continue;
            }
            if (c == '#' || (c == '/' && (next() == '/' || next() == '*')))
                return {at_, "JSON has no comments"};
            if (c == '\'') return {at_, "JSON puts strings between double quotes"};
            if (auto fault = mark(c); !fault.what.empty()) return fault;
        }
        if (open_.empty())
            return last_ == Last::nothing ? Fault{0, "there is nothing in it"} : Fault{};
        const auto kind = text_[open_.back()] == '{' ? "an object" : "an array";
        return {text_.size(), std::string("the file ends inside ") + kind + " that begins in " +
                                  place_of(text_, open_.back())};
    }

private:
    enum class Last : std::uint8_t { nothing, value, comma, other };

    char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

    Fault mark(char c) {
        if (c == '}' || c == ']') {
            if (last_ == Last::comma)
                return {comma_, std::string("a comma stands behind the last element, before ") + c};
            if (!open_.empty()) open_.pop_back();
            return step(Last::value);
        }
        if (c == ',') {
            comma_ = at_;
            return step(Last::comma);
        }
        if (c == ':') return step(Last::other);
        if (last_ == Last::value)
            return {at_, open_.empty() ? "this stands behind the end"
                                       : "a comma is missing before this"};
        if (c == '{' || c == '[') {
            open_.push_back(at_);
            return step(Last::other);
        }
        if (c == '"') return string();
        at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"'#/", at_ + 1), text_.size());
        last_ = Last::value;
        return {};
    }

    Fault string() {
        const auto begins = at_;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\n') return {begins, "this string has no end in its line"};
            if (text_[at_] == '\\') ++at_;
        }
        if (at_ >= text_.size()) return {begins, "the file ends inside this string"};
        return step(Last::value);
    }

    Fault step(Last last) {
        ++at_;
        last_ = last;
        return {};
    }

    const std::string_view text_;
    std::size_t at_ = 0, comma_ = 0;
    Last last_ = Last::nothing;
    std::vector<std::size_t> open_;  // where each begins
};

Fault find_fault(std::string_view text) {
    return FaultFinder(text).find();
}

/// The first bracket beyond kMaxJsonDepth, or nothing. Any text; brackets in strings are text.
std::optional<std::size_t> too_deep(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = text[at];
        if (in_string) {
            if (c == '\\') ++at;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > kMaxJsonDepth) return at;
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return std::nullopt;
}

}  // namespace

json parse_json(std::string_view text, ConfigContext& context) {
    if (const auto at = too_deep(text))
        throw json::out_of_range::create(408,
                                         place_of(text, *at) +
                                             ": objects and arrays are nested more than " +
                                             std::to_string(kMaxJsonDepth) + " deep",
                                         nullptr);
    Place place;
    const auto follow = [&](int, Event event, json& parsed) {
        if (event == Event::object_start || event == Event::array_start) {
            place.begin(event == Event::array_start);
        } else if (event == Event::object_end || event == Event::array_end) {
            place.end();
        } else if (event == Event::value) {
            place.value();
        } else if (auto twice = place.key(parsed.get<std::string>()); !twice.empty()) {
            context.fail(std::move(twice), "stands twice in one object");
        }
        return true;
    };
    return json::parse(text.begin(), text.end(), follow);
}

std::string syntax_message(const json::exception& error, std::string_view text) {
    const auto* syntax = dynamic_cast<const json::parse_error*>(&error);
    if (const auto fault = find_fault(text);
        syntax && !fault.what.empty() && fault.at <= syntax->byte)
        return place_of(text, fault.at) + ": " + fault.what;
    std::string_view message = error.what();
    const auto line = message.find("line ");
    if (line != std::string_view::npos) message.remove_prefix(line);
    // The library quotes what it has read, which may end within a character.
    std::string shown;
    while (!message.empty()) {
        const auto ascii = static_cast<unsigned char>(message.front()) < 0x80;
        const auto length = ascii ? 1 : base::utf8_character(message);
        shown.append(length > 0 ? message.substr(0, length) : "\xef\xbf\xbd");
        message.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return shown;
}

}  // namespace proxy
