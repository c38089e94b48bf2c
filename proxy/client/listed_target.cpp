#include "proxy/client/listed_target.hpp"

#include <spdlog/spdlog.h>

#include <chrono>

#include "proxy/blocklists/blocklists.hpp"

namespace proxy {

std::optional<std::string> judge_by_blocklists(Transaction& transaction, std::string_view host,
                                               std::optional<std::string_view> path) {
    const auto& lists = transaction.config().blocklists;
    if (!lists) return std::nullopt;
    const auto listed = lists->find(host, path);
    auto& counters = transaction.frontend.counters;
    counters.blocklist_queries += listed.queries;
    counters.blocklist_confirmed += listed.confirmed;
    counters.blocklist_false_positives += listed.positives - listed.confirmed;
    const auto& entry = listed.refused ? listed.refused : listed.logged;
    if (!entry) return std::nullopt;
    const auto place = lists->place(*entry);
    transaction.books.blocklist = std::make_unique<const std::string>(place);
    if (listed.refused) {
        ++counters.refusals[RequestRefusal::blocklist];
        return "This proxy does not let requests through to " + std::string(host) +
               ", which is on a list: " + place + " (forward.blocklists).";
    }
    ++counters.blocklist_logged;
    const auto& path_of_list = lists->lists()[entry->list].config.path;
    if (const auto more =
            transaction.frontend.listed_log.admit(path_of_list, std::chrono::steady_clock::now()))
        spdlog::info("{} has asked for {}, which is on a list that refuses nothing: {}{}",
                     transaction.request.requester.text(), host, place, *more);
    return std::nullopt;
}

boost::asio::awaitable<void> refuse_listed(Transaction& transaction, std::string_view text) {
    auto status = kOwnAnswer;
    status.detail = to_string(RequestRefusal::blocklist);
    co_await transaction.refuse(403, text, status);
}

}  // namespace proxy
