#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/client/client_connection.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

/// Reads the requests of one HTTP/1.1 connection: parses each head, and decodes the body as it
/// comes. The connection outlives this. One thread.
class Http1RequestReader final : public RequestBody {
public:
    Http1RequestReader(ClientService& service, ClientConnection& connection)
        : service_(service), connection_(connection) {}

    /// Parses the head that the connection has received. `head` views its bytes.
    ParseError parse(Head& head);
    /// Forgets the request. The rest of it is not read, and no request can follow.
    void forget() { parser_.reset(); }
    /// Another request may come behind this one, once the response has gone out.
    bool may_be_followed() const {
        return parser_ && parser_->keep_alive() && parser_->is_done() &&
               parser_->error() == ParseError::ok;
    }
    /// The same, and the connection is not to end.
    bool keep_alive() const { return may_be_followed() && !connection_.ending(); }
    /// A part of the body may still be on its way.
    bool is_unfinished() const { return parser_ && !parser_->is_done(); }
    /// The whole request has come, and the client sends no other one behind it.
    bool says_close() const { return parser_ && parser_->is_done() && !parser_->keep_alive(); }

    /// The request has, or may have, bytes behind its head.
    bool has_body() const {
        return parser_ && (parser_->chunked() || parser_->content_length().value_or(0) > 0);
    }

    bool done() const override { return !parser_ || parser_->is_done(); }
    std::optional<std::uint64_t> length() const override { return parser_->content_length(); }
    bool has_open_length() const override { return parser_->chunked(); }
    bool has_come() const override { return !connection_.input().empty(); }
    bool take(std::vector<std::string_view>& pieces) override;
    void take_empty() override;
    ParseError error() const override { return parser_->error(); }
    boost::asio::awaitable<bool> receive_more() override { return connection_.receive_more(); }
    void interrupt() override { connection_.interrupt(); }

private:
    ClientService& service_;
    ClientConnection& connection_;
    std::optional<RequestParser> parser_;
};

}  // namespace proxy
