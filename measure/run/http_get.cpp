#include "measure/run/http_get.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdlib>
#include <string_view>

#include "base/async/deadline.hpp"
#include "base/net/dialer.hpp"
#include "base/net/resolver.hpp"

namespace measure {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using base::as_result;
using base::awaitable;
using boost::system::error_code;

/// HAProxy's proxy-protocol.txt §2.2: signature, version 2 and LOCAL, an empty address of length 0.
constexpr std::string_view kProxyHeader("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);

using HttpRequest = http::request<http::string_body>;

awaitable<error_code> exchange(const HostPort& address, const HttpRequest& request,
                               std::chrono::milliseconds timeout, Preface preface,
                               HttpAnswer& out) {
    const auto executor = co_await asio::this_coro::executor;
    const auto deadline = base::Clock::now() + timeout;
    base::Resolver resolver(executor);
    auto endpoints = co_await resolver.resolve(address, deadline);
    if (!endpoints) co_return endpoints.error();
    base::Dialer dialer(executor);
    auto connected = co_await dialer.connect(address.text(), std::move(*endpoints), deadline);
    if (!connected) co_return connected.error();
    boost::beast::tcp_stream stream(std::move(*connected));
    stream.expires_at(deadline);

    if (preface == Preface::proxy_header) {
        const auto header = asio::buffer(kProxyHeader.data(), kProxyHeader.size());
        const auto [refused, size] = co_await asio::async_write(stream, header, as_result);
        if (refused) co_return refused;
    }
    const auto [unsent, sent] = co_await http::async_write(stream, request, as_result);
    if (unsent) co_return unsent;

    boost::beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kMaxAdminAnswerBytes);
    const auto [broken, got] = co_await http::async_read(stream, buffer, parser, as_result);
    if (broken) co_return broken;
    out.status = parser.get().result_int();
    out.via = std::string(parser.get()[http::field::via]);
    out.content_type = std::string(parser.get()[http::field::content_type]);
    out.date = std::string(parser.get()[http::field::date]);
    out.body = std::move(parser.get().body());
    co_return error_code{};
}

HttpRequest request_for(http::verb method, const HostPort& address, const std::string& target,
                        const std::string& token) {
    HttpRequest request(method, target, 11);
    request.set(http::field::host, address.text());
    request.set(http::field::connection, "close");
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
    return request;
}

boost::system::result<HttpAnswer> exchange_once(const HostPort& address, const HttpRequest& request,
                                                std::chrono::milliseconds timeout,
                                                Preface preface = Preface::none) {
    asio::io_context context(1);
    HttpAnswer answer;
    error_code error = asio::error::timed_out;
    // The coroutine takes references to this frame, which outlives the context's last run.
    auto work = exchange(address, request, timeout, preface, answer);
    asio::co_spawn(context, std::move(work),
                   [&](std::exception_ptr, error_code result) { error = result; });
    context.run();
    if (error) return error;
    return answer;
}

}  // namespace

std::string admin_token() {
    const auto* token = std::getenv("HEARSAY_ADMIN_TOKEN");
    std::string text = token ? token : "";
    text.erase(text.find_last_not_of(" \t\r\n") + 1);  // text copied from a file ends in a newline
    return text;
}

boost::system::result<HttpAnswer> http_get(const HostPort& address, const std::string& target,
                                           std::chrono::milliseconds timeout,
                                           const std::string& token) {
    return exchange_once(address, request_for(http::verb::get, address, target, token), timeout);
}

boost::system::result<HttpAnswer> http_post(const HostPort& address, const std::string& target,
                                            const std::string& json,
                                            std::chrono::milliseconds timeout,
                                            const std::string& token) {
    auto request = request_for(http::verb::post, address, target, token);
    if (!json.empty()) request.set(http::field::content_type, "application/json");
    request.body() = json;
    request.prepare_payload();
    return exchange_once(address, request, timeout);
}

boost::system::result<HttpAnswer> http_get_if_cached(const HostPort& address,
                                                     const std::string& target,
                                                     std::chrono::milliseconds timeout,
                                                     Preface preface) {
    auto request = request_for(http::verb::get, address, target, {});
    request.set(http::field::cache_control, "only-if-cached");
    return exchange_once(address, request, timeout, preface);
}

}  // namespace measure
