#include "proxy/client/http1_request_reader.hpp"

namespace proxy {

ParseError Http1RequestReader::parse(Head& head) {
    parser_.emplace(head, service_.upstream.head_limits());
    return parser_->parse_head(connection_.head_bytes());
}

bool Http1RequestReader::take(std::vector<std::string_view>& pieces) {
    auto& input = connection_.input();
    const auto consumed = parser_->parse_body(input.data(), [&](std::string_view piece) {
        if (!piece.empty()) pieces.push_back(piece);
    });
    if (!consumed) return false;
    // The framing of a chunk is as long as a head at most.
    if (*consumed == 0 && input.size() > service_.config().limits.head) return false;
    input.consume(*consumed);
    return true;
}

/// The first chunk is the last one (RFC 9112 §7.1).
void Http1RequestReader::take_empty() {
    const auto come = connection_.input().data();
    const std::string_view framing(static_cast<const char*>(come.data()), come.size());
    const auto end = framing.find_first_not_of('0');
    if (!parser_->chunked() || end == 0 || end == std::string_view::npos) return;
    if (framing[end] != '\r' && framing[end] != ';') return;
    std::vector<std::string_view> none;
    take(none);
}

}  // namespace proxy
