#include "proxy/upstream/response_reader.hpp"

#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/mended_head.hpp"

namespace proxy {

bool ResponseReader::has_head(const base::ReadBuffer& buffer, std::size_t& scanned) const {
    return find_head_end(buffer.data(), scanned) > 0 || buffer.size() > limits_.head_bytes;
}

ResponseReader::Step ResponseReader::take_head(base::ReadBuffer& buffer, std::size_t& scanned,
                                               bool to_head, bool is_mended) {
    const auto refused = [this](ParseError fault) {
        refuse(fault);
        return Step::malformed;
    };
    const auto size = find_head_end(buffer.data(), scanned);
    if ((size > 0 ? size : buffer.size()) + interim_bytes_ > limits_.head_bytes)
        return refused(ParseError::head_too_large);
    if (size == 0) {
        const auto start = judge_response_start(buffer.data());
        return start == ParseError::ok ? Step::more : refused(start);
    }
    head_bytes_.assign(buffer.data().substr(0, size));
    buffer.consume(size);
    auto parsed = parse_head(to_head);
    if (parsed != ParseError::ok && is_mended) {
        const auto mended = mend_response_head(head_bytes_);
        if (mended != ParseError::ok) return refused(mended);
        parsed = parse_head(to_head);
    }
    if (parsed == ParseError::ok && HopByHop(head_.fields).too_many())
        parsed = ParseError::bad_connection;
    if (parsed != ParseError::ok) return refused(parsed);
    if (head_.status < 200) interim_bytes_ += head_bytes_.size();
    return Step::head;
}

ParseError ResponseReader::parse_head(bool to_head) {
    parser_.emplace(head_, limits_);
    if (to_head) parser_->skip_body();
    return parser_->parse_head(head_bytes_);
}

bool ResponseReader::decode(const base::ReadBuffer& buffer, std::uint64_t* counter) {
    const auto consumed = parser_->parse_body(buffer.data(), [&](std::string_view piece) {
        if (!piece.empty()) pieces_.push_back(piece);
        if (counter) *counter += piece.size();
    });
    if (!consumed) {
        refuse(parser_->error());
        return false;
    }
    pending_ = *consumed;
    return true;
}

void ResponseReader::drop_pieces(base::ReadBuffer& buffer) {
    pieces_.clear();
    buffer.consume(pending_);
    pending_ = 0;
}

std::optional<std::uint64_t> ResponseReader::content_length() const {
    return parser_ && parser_->sized() ? parser_->content_length() : std::nullopt;
}

bool ResponseReader::announces_a_body() const {
    return parser_ && parser_->skips_body() &&
           (parser_->chunked() || parser_->content_length().value_or(0) > 0);
}

}  // namespace proxy
