#include "proxy/telemetry/top_requests.hpp"

namespace proxy {
namespace {

void note_in(std::optional<SpaceSaving>& list, std::string_view text) {
    if (!list) list.emplace(TopRequests::kEntries);
    list->note(text, TopRequests::kOneIn);
}

std::vector<SpaceSaving::Entry> all_of(const std::optional<SpaceSaving>& list) {
    return list ? list->top(TopRequests::kEntries) : std::vector<SpaceSaving::Entry>();
}

}  // namespace

void TopRequests::note(const AdminConfig* settings, std::string_view url, std::string_view client) {
    // xorshift64: distances from 1 to 31, so that no rhythm of requests hides one of them.
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    left_ = 1 + static_cast<std::uint32_t>(random_ % (2 * kOneIn - 1));
    const auto of_urls = settings != nullptr ? settings->top_urls : TopUrls::off;
    if (of_urls == TopUrls::off) {
        urls_.reset();
    } else if (!url.empty()) {
        const auto is_whole = of_urls == TopUrls::whole;
        note_in(urls_, is_whole ? url : url.substr(0, url.find('?')));
    }
    if (settings != nullptr && settings->top_clients)
        note_in(clients_, client);
    else
        clients_.reset();
}

std::vector<SpaceSaving::Entry> TopRequests::urls() const {
    return all_of(urls_);
}

std::vector<SpaceSaving::Entry> TopRequests::clients() const {
    return all_of(clients_);
}

}  // namespace proxy
