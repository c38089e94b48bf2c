#include "proxy/admin/server.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <optional>

#include "proxy/admin/admission.hpp"
#include "proxy/admin/routes.hpp"
#include "proxy/net/listen.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds kDeadline{5};
constexpr std::chrono::milliseconds kAcceptPause{50};

/// Why this request is not answered, whatever it asks for.
std::optional<AdminResponse> refuse(const AdminRequest& request, const AdminConfig& config,
                                    const asio::ip::address& from) {
    const auto target = request.target();
    const auto guarded = is_guarded(request.method(), {target.data(), target.size()});
    const auto admission = admit(config, request, guarded, from);
    if (admission == Admission::needs_token) {
        auto refusal =
            admin_text(request, http::status::unauthorized, std::string(explain(admission)) + "\n");
        refusal.set(http::field::www_authenticate, "Bearer realm=\"hearsay\"");
        return refusal;
    }
    if (admission != Admission::granted)
        return admin_text(request, http::status::forbidden, std::string(explain(admission)) + "\n");
    // A page in the operator's browser can send a POST here, but not without Origin.
    const auto looks = request.method() == http::verb::get || request.method() == http::verb::head;
    if (!looks && request.count(http::field::origin) > 0)
        return admin_text(request, http::status::forbidden, "Not on a web page's word.\n");
    return std::nullopt;
}

asio::awaitable<AdminResponse> respond(const AdminRequest& request, const AdminHooks& hooks,
                                       const asio::ip::address& from) {
    const auto config = hooks.config();
    if (auto refusal = refuse(request, config->admin.value_or(AdminConfig{}), from))
        co_return *std::move(refusal);
    const auto target = request.target();
    const auto* route = find_route(request.method(), {target.data(), target.size()});
    if (route == nullptr) co_return no_route(request);
    auto response = co_await route->handler(request, hooks);
    co_return response;
}

}  // namespace

AdminServer::AdminServer(asio::io_context& control, const HostPort& where, Hooks hooks)
    : hooks_(std::move(hooks)), acceptor_(control), tasks_(control.get_executor()) {
    const auto fd = listen_shared(where, 1).front();
    acceptor_.assign(where.host.find(':') != std::string::npos ? tcp::v6() : tcp::v4(), fd);
}

void AdminServer::start() {
    tasks_.spawn(accept_loop());
}

void AdminServer::stop() {
    boost::system::error_code ec;
    acceptor_.close(ec);
    tasks_.cancel();
}

asio::awaitable<void> AdminServer::accept_loop() {
    asio::steady_timer pause(acceptor_.get_executor());
    while (acceptor_.is_open()) {
        boost::system::error_code ec;
        auto socket =
            co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (!ec && tasks_.size() <= kMaxConnections) {
            auto task = serve(std::move(socket));
            tasks_.spawn(std::move(task));
            continue;
        }
        if (ec == asio::error::operation_aborted) break;
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    }
}

asio::awaitable<void> AdminServer::serve(tcp::socket socket) {
    boost::system::error_code gone;
    const auto from = socket.remote_endpoint(gone).address();
    if (gone) co_return;
    beast::tcp_stream stream(std::move(socket));
    beast::flat_buffer buffer(64 * 1024);
    for (;;) {
        AdminRequest request;
        boost::system::error_code ec;
        stream.expires_after(kDeadline);
        co_await http::async_read(stream, buffer, request,
                                  asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return;
        auto response = co_await respond(request, hooks_, from);
        if (request.method() == http::verb::head) response.body().clear();
        stream.expires_after(kDeadline);
        co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, ec));
        if (ec || !response.keep_alive()) co_return;
    }
}

}  // namespace proxy
