#include "proxy/http/field_block.hpp"

namespace proxy {

bool FieldBlock::next_line(std::string_view& rest, std::string_view& name,
                           std::string_view& value) {
    while (!rest.empty()) {
        const auto end = rest.find("\r\n");
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        name = line.substr(0, colon);
        value = line.substr(colon + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
        return true;
    }
    return false;
}

void FieldBlock::Iterator::next() {
    at_end_ = !next_line(rest_, field_.name, field_.value);
    if (at_end_) return;
    field_.id = boost::beast::http::string_to_field({field_.name.data(), field_.name.size()});
}

std::vector<Field> fields_of(FieldBlock block) {
    std::vector<Field> fields;
    for (const auto& line : block) fields.push_back(line);
    return fields;
}

}  // namespace proxy
