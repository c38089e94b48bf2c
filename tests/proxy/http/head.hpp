#pragma once

#include "proxy/http/field_list.hpp"

#include <boost/beast/http/field.hpp>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::test {

/// Header fields written as text, one `Name: value` per line; white space around values goes, as
/// the parser does it. Owns the bytes that its fields view.
class Head {
public:
    Head(const char* lines) : Head(std::string_view(lines)) {}
    Head(std::string_view lines) {
        for (std::string_view rest = lines; !rest.empty();) {
            const auto end = std::min(rest.find('\n'), rest.size());
            if (end > 0) add(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    Head(const Head&) = delete;
    Head& operator=(const Head&) = delete;

    operator Fields() const { return fields_; }

private:
    void add(std::string_view line) {
        const std::string_view kept = text_.emplace_back(line);
        const auto colon = kept.find(':');
        const auto name = kept.substr(0, colon);
        fields_.push_back({boost::beast::http::string_to_field({name.data(), name.size()}), name,
                           trim(kept.substr(colon + 1))});
    }

    std::list<std::string> text_;
    std::vector<Field> fields_;
};

/// `Name: value` lines of a field list, for comparison.
inline std::vector<std::string> lines_of(Fields fields) {
    std::vector<std::string> lines;
    for (const auto& field : fields) {
        lines.push_back(std::string(field.name) + ": " + std::string(field.value));
    }
    return lines;
}

}  // namespace proxy::test
