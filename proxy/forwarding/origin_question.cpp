#include "proxy/forwarding/origin_question.hpp"

namespace proxy {

namespace asio = boost::asio;

asio::awaitable<FetchError> ask_origin(Worker& worker, const FetchJob& job, std::string_view lines,
                                       Exchange& exchange) {
    const auto* target = std::get_if<UpstreamTarget>(&job.route);
    if (target == nullptr) co_return FetchError::not_allowed;
    const Exchange::Request request{origin_request(*job.request, job.config->node, lines), false,
                                    true};
    const auto& timeouts = job.config->timeouts;
    const Exchange::Patience patience{Exchange::Clock::now() + timeouts.origin_connect,
                                      timeouts.origin_head};
    ++worker.counters.origin_requests;
    const auto error = co_await exchange.run(*target, request, patience);
    if (error != FetchError::none) ++worker.counters.origin_failures;
    co_return error;
}

}  // namespace proxy
