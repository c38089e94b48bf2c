#include "proxy/admin/server.hpp"

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <utility>

#include "base/net/listen.hpp"
#include "proxy/admin/admin_access.hpp"
#include "proxy/admin/routes.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds kDeadline{5};

/// A refusal that is independent of the route, or nullopt.
std::optional<AdminResponse> refuse(const AdminRequest& request, const AdminConfig& config,
                                    const asio::ip::address& from) {
    const auto target = request.target();
    const std::string_view path(target.data(), target.size());
    auto rules = config;
    if (is_page(request.method(), path)) rules.token_for = TokenFor::changes;
    const auto admission = admit(rules, request, is_guarded(request.method(), path), from);
    if (admission == AdminVerdict::needs_token) {
        auto refusal =
            admin_text(request, http::status::unauthorized, std::string(explain(admission)) + "\n");
        refusal.set(http::field::www_authenticate, "Bearer realm=\"hearsay\"");
        return refusal;
    }
    if (admission != AdminVerdict::granted)
        return admin_text(request, http::status::forbidden, std::string(explain(admission)) + "\n");
    // A page in the operator's browser can send a POST here; the browser then adds Origin. The own
    // dashboard may do so.
    const auto looks = request.method() == http::verb::get || request.method() == http::verb::head;
    if (!looks && request.count(http::field::origin) > 0 && !is_from_own_page(request))
        return admin_text(request, http::status::forbidden, "Not on a web page's word.\n");
    return std::nullopt;
}

asio::awaitable<AdminResponse> respond(const AdminRequest& request, NodeControl& node,
                                       const asio::ip::address& from, ExceptionBarrier& faults) {
    const auto config = node.config();
    if (auto refusal = refuse(request, config->admin.value_or(AdminConfig{}), from))
        co_return *std::move(refusal);
    const auto target = request.target();
    const auto* route = find_route(request.method(), {target.data(), target.size()});
    if (route == nullptr) co_return no_route(request);
    try {
        auto response = co_await route->handler(request, node);
        co_return response;
    } catch (...) {
        if (is_cancelled()) throw;
        faults.note("admin port");
    }
    co_return admin_text(request, http::status::internal_server_error,
                         "An error that is not expected; the error log says which.\n");
}

/// The status for a malformed request. Returns nullopt after the end of a connection.
std::optional<http::status> status_of(const boost::system::error_code& error) {
    if (error == http::error::body_limit) return http::status::payload_too_large;
    if (error == http::error::header_limit) return http::status::request_header_fields_too_large;
    if (error == http::error::end_of_stream || error == http::error::partial_message)
        return std::nullopt;
    if (error.category() == make_error_code(http::error::bad_method).category())
        return http::status::bad_request;
    return std::nullopt;
}

std::string explain(http::status status) {
    if (status == http::status::payload_too_large)
        return "The body must have at most " + std::to_string(AdminServer::kMaxBodyBytes) +
               " bytes.\n";
    if (status == http::status::request_header_fields_too_large) return "The head is too large.\n";
    return "This is no request.\n";
}

/// Reads the rest of the request. A close before that would reset the connection, and the client
/// might lose the answer.
asio::awaitable<void> let_it_be_read(beast::tcp_stream& stream) {
    boost::system::error_code ec;
    stream.socket().shutdown(tcp::socket::shutdown_send, ec);
    stream.expires_after(kDeadline);
    std::array<char, 16 * 1024> unwanted{};
    while (!ec)
        co_await stream.async_read_some(asio::buffer(unwanted),
                                        asio::redirect_error(asio::use_awaitable, ec));
}

}  // namespace

/// Marks a connection, during its lifetime, as one that waits for a request and may make room.
class AdminServer::Waiting {
public:
    Waiting(std::list<Waiting*>& all, beast::tcp_stream& stream)
        : all_(all), stream_(stream), at_(all.insert(all.end(), this)) {}
    ~Waiting() {
        if (at_ != all_.end()) all_.erase(at_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    /// Ends the wait and the connection.
    void give_up() {
        all_.erase(std::exchange(at_, all_.end()));
        stream_.close();
    }

private:
    std::list<Waiting*>& all_;
    beast::tcp_stream& stream_;
    std::list<Waiting*>::iterator at_;
};

AdminServer::AdminServer(asio::io_context& control, const HostPort& where, NodeControl& node,
                         ExceptionBarrier& faults)
    : node_(node),
      faults_(faults),
      listener_(control.get_executor()),
      tasks_(control.get_executor()) {
    listener_.assign(base::listen_shared(where, 1).front());
}

void AdminServer::start() {
    base::Listener::Hooks hooks;
    hooks.take = [this](tcp::socket&& socket, const tcp::endpoint&) { take(std::move(socket)); };
    auto listening = listener_.run(std::move(hooks));
    tasks_.spawn(std::move(listening));
}

void AdminServer::stop() {
    listener_.close();
    tasks_.cancel();
}

/// The listener is one of the tasks.
void AdminServer::take(tcp::socket socket) {
    if (tasks_.size() > kMaxConnections) {
        if (waiting_.empty()) return;  // all connections are busy: the new one is closed
        waiting_.front()->give_up();
    }
    auto task = serve(std::move(socket));
    tasks_.spawn(std::move(task));
}

asio::awaitable<void> AdminServer::serve(tcp::socket socket) {
    boost::system::error_code gone;
    const auto from = socket.remote_endpoint(gone).address();
    if (gone) co_return;
    beast::tcp_stream stream(std::move(socket));
    beast::flat_buffer buffer(64 * 1024);
    for (;;) {
        if (buffer.size() == 0) buffer.shrink_to_fit();  // of a larger request before
        http::request_parser<http::string_body> parser;
        parser.body_limit(kMaxBodyBytes);
        boost::system::error_code ec;
        stream.expires_after(kDeadline);
        {
            const Waiting waiting(waiting_, stream);
            co_await http::async_read(stream, buffer, parser,
                                      asio::redirect_error(asio::use_awaitable, ec));
        }
        const auto wrong = status_of(ec);
        if (ec && !wrong) co_return;
        auto request = parser.release();
        AdminResponse response;
        if (wrong) {
            response = admin_text(request, *wrong, explain(*wrong));
            response.keep_alive(false);
        } else {
            auto answered = co_await respond(request, node_, from, faults_);
            response = std::move(answered);
        }
        if (request.method() == http::verb::head) response.body().clear();
        stream.expires_after(kDeadline);
        co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, ec));
        if (!ec && wrong) {
            const Waiting waiting(waiting_, stream);
            co_await let_it_be_read(stream);
        }
        if (ec || !response.keep_alive()) co_return;
    }
}

}  // namespace proxy
