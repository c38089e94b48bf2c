#include "proxy/request/listed_target.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <system_error>

#include "proxy/blocklists/blocklists.hpp"

namespace proxy {

namespace {

/// Nobody knows what the file says. A list that refuses is taken at its word.
std::optional<ListedPage> judge_unreadable(Transaction& transaction, std::string_view host,
                                           const Blocklists& lists, const std::error_code& error) {
    auto& service = transaction.service;
    const auto refuses = lists.any_refuses();
    if (const auto more = service.logs.listed.admit("", std::chrono::steady_clock::now()))
        spdlog::error(
            "the sorted file of the blocklists cannot be read ({}), so nobody knows whether {} is "
            "on a list: requests for such targets {}. A changed list or a reload makes another "
            "file{}",
            error.message(), host, refuses ? "get 503" : "pass", *more);
    if (!refuses) return std::nullopt;
    ++service.counters.refusals[RequestRefusal::blocklist];  // the outcome stays `error`
    return ListedPage{503, "This proxy does not let requests through to " + std::string(host) +
                               " now: it may be on a list, whose entries cannot be read "
                               "(forward.blocklists)."};
}

}  // namespace

std::optional<ListedPage> judge_by_blocklists(Transaction& transaction, std::string_view host,
                                              std::optional<std::string_view> path) {
    const auto& lists = transaction.service.settings.files().blocklists;
    if (!lists) return std::nullopt;
    const auto listed = lists->find(host, path);
    auto& counters = transaction.service.counters;
    counters.blocklist_queries += listed.queries;
    counters.blocklist_confirmed += listed.confirmed;
    counters.blocklist_false_positives += listed.positives - listed.confirmed - listed.unreadable;
    counters.blocklist_unreadable += listed.unreadable;
    if (!listed.refused && listed.unreadable > 0)
        if (auto page = judge_unreadable(transaction, host, *lists, listed.error)) return page;
    const auto& entry = listed.refused ? listed.refused : listed.logged;
    if (!entry) return std::nullopt;
    const auto place = lists->place(*entry);
    transaction.stats.details.blocklist = std::make_unique<const std::string>(place);
    if (listed.refused) {
        transaction.note_refusal(RequestRefusal::blocklist);
        return ListedPage{403, "This proxy does not let requests through to " + std::string(host) +
                                   ", which is on a list: " + place + " (forward.blocklists)."};
    }
    ++counters.blocklist_logged;
    const auto& path_of_list = lists->lists()[entry->list].config.path;
    if (const auto more =
            transaction.service.logs.listed.admit(path_of_list, std::chrono::steady_clock::now()))
        spdlog::info("{} has asked for {}, which is on a list that refuses nothing: {}{}",
                     transaction.request.requester.text(), host, place, *more);
    return std::nullopt;
}

boost::asio::awaitable<void> refuse_listed(Transaction& transaction, const ListedPage& page) {
    auto status = kOwnAnswer;
    status.detail = to_string(RequestRefusal::blocklist);
    co_await transaction.refuse(page.status, page.text, status);
}

}  // namespace proxy
