#include "proxy/config/json_text.hpp"

#include <cstddef>
#include <set>
#include <vector>

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

}  // namespace

json parse_json(std::string_view text, ConfigContext& context) {
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

std::string syntax_message(const json::exception& error) {
    std::string_view message = error.what();
    const auto line = message.find("line ");
    return std::string(line == std::string_view::npos ? message : message.substr(line));
}

}  // namespace proxy
