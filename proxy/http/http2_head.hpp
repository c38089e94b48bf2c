#pragma once

#include <boost/beast/http/field.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// The head of one HTTP/2 request (RFC 9113 §8.3), collected line by line as HPACK decodes it. It
/// becomes a Head under the rules that MessageParser has for HTTP/1.1, so that nothing in it can be
/// read as more than one request by an HTTP/1.1 origin. The pseudo-fields become method and target;
/// `:authority` becomes the one Host field; crumbs of Cookie are joined (§8.2.3). The object owns
/// the texts, and is reused for each stream. One thread.
class Http2Head {
public:
    /// Begins with the next head.
    void clear();
    /// Takes the next line. Beyond `limits` it keeps no more lines, and finish() gives the reason.
    void add(std::string_view name, std::string_view value, const HeadLimits& limits);

    /// Fills `head` with views of this object's texts, which stay valid until clear(). A target is
    /// in origin-form, or `*`; of a CONNECT without `:protocol` it is the authority. After an error
    /// method and target are as they came, for the log.
    ParseError finish(Head& head);

    /// The pseudo-fields that Head has no place for. Empty: absent.
    std::string_view scheme() const { return text_of(scheme_); }
    std::string_view protocol() const { return text_of(protocol_); }
    /// The number in Content-Length, after finish().
    std::optional<std::uint64_t> length() const { return length_; }

    /// Bytes of its texts.
    std::size_t bytes() const { return text_.size() + cookies_.size(); }
    std::size_t kept_bytes() const;
    void give_back();

private:
    struct Text {
        std::size_t begin = 0, size = 0;
    };
    struct Line {
        boost::beast::http::field id = boost::beast::http::field::unknown;
        Text name, value;
    };

    Text keep(std::string_view text);
    std::string_view text_of(Text text) const {
        return std::string_view(text_).substr(text.begin, text.size);
    }
    void add_pseudo(std::string_view name, std::string_view value);
    void fail(ParseError error) {
        if (error_ == ParseError::ok) error_ = error;
    }
    ParseError judge_line(const Field& line);
    ParseError judge_target(Head& head) const;
    ParseError put_host(Head& head) const;
    void join_cookies(Head& head);

    std::string text_;
    std::string cookies_;  // the joined crumbs
    std::vector<Line> lines_;
    Text method_, path_, authority_, scheme_, protocol_;
    unsigned crumbs_ = 0;  // lines of Cookie
    std::optional<std::uint64_t> length_;
    ParseError error_ = ParseError::ok;
};

}  // namespace proxy
