#include "proxy/http/field_block.hpp"

namespace proxy {

void FieldBlock::Iterator::next() {
    while (!rest_.empty()) {
        const auto end = rest_.find("\r\n");
        const auto line = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        field_.name = line.substr(0, colon);
        field_.value = line.substr(colon + 1);
        if (field_.value.starts_with(' ')) field_.value.remove_prefix(1);
        field_.id = boost::beast::http::string_to_field({field_.name.data(), field_.name.size()});
        return;
    }
    at_end_ = true;
}

std::vector<Field> fields_of(FieldBlock block) {
    std::vector<Field> fields;
    for (const auto& line : block) fields.push_back(line);
    return fields;
}

}  // namespace proxy
