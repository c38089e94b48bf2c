#include "measure/simulate/paper_directories.hpp"

#include <string_view>
#include <utility>

namespace measure {
namespace {

/// `scheme://host[:port]` of a target URI.
std::string_view host_of(std::string_view uri) {
    const auto begin = uri.find("://");
    if (begin == std::string_view::npos) return uri;
    return uri.substr(0, uri.find('/', begin + 3));
}

/// The hosts of all objects, numbered; empty if URLs are announced.
std::vector<std::uint32_t> hosts_of(const KnowledgeInputs& shared) {
    std::vector<std::uint32_t> result;
    if (shared.config.scheme != Scheme::server_names) return result;
    boost::unordered_flat_map<std::string_view, std::uint32_t> numbers;
    for (std::uint32_t object = 0; object < shared.objects.size(); ++object) {
        const auto next = static_cast<std::uint32_t>(numbers.size());
        result.push_back(numbers.emplace(host_of(shared.objects.uri(object)), next).first->second);
    }
    return result;
}

}  // namespace

PaperDirectories::PaperDirectories(const KnowledgeInputs& shared)
    : AnnouncedKnowledge(shared, shared.config.scheme == Scheme::server_names ? Delivery::later
                                                                              : Delivery::at_once),
      hosts_(hosts_of(shared)),
      names_(shared.objects.size()),  // at most one host per object
      announced_by_host_(shared.config.proxies),
      received_(names_, shared.config.proxies) {}

void PaperDirectories::advance(TimePoint now) {
    while (!under_way_.empty() && under_way_.front().arrives <= now) {
        const auto& update = under_way_.front();
        for (const auto& [name, is_stored] : update.names)
            received_.set(name, update.proxy, is_stored);
        deliver(update.proxy, update.objects);
        under_way_.pop_front();
    }
}

void PaperDirectories::changed(std::size_t proxy, std::uint32_t, bool, TimePoint now) {
    if (!announced_objects_.has_changed(proxy, shared_.config.announce_changed)) return;
    Update update{
        now + shared_.config.network.delay, proxy, {}, announced_objects_.announce(proxy)};
    for (const auto& [object, is_stored] : update.objects)
        if (is_news(proxy, name_of(object), is_stored))
            update.names.push_back({name_of(object), is_stored});
    if (hosts_.empty()) update.objects.clear();
    if (!update.names.empty()) {
        const auto peers = shared_.config.proxies - 1;
        announced_.messages += peers;
        announced_.bytes += peers * (kHeadBytes + kChangeBytes * update.names.size());
    }
    under_way_.push_back(std::move(update));
}

/// Returns true if the object is the first of its name at the proxy, or the last one to go.
bool PaperDirectories::is_news(std::size_t proxy, std::uint32_t name, bool is_stored) {
    if (hosts_.empty()) return true;
    auto& counts = announced_by_host_[proxy];
    const auto count = counts[name] += is_stored ? 1 : -1u;
    if (count == 0) counts.erase(name);
    return count == (is_stored ? 1u : 0u);
}

summary::PeerSet PaperDirectories::candidates(std::size_t proxy, std::uint32_t object) const {
    return received_.of(name_of(object)) - summary::PeerSet{static_cast<unsigned>(proxy)};
}

bool PaperDirectories::was_announced(std::size_t proxy, std::size_t peer,
                                     std::uint32_t object) const {
    return hosts_.empty() ? received_.has(object, peer)
                          : AnnouncedKnowledge::was_announced(proxy, peer, object);
}

/// An entry for each name of each peer.
std::uint64_t PaperDirectories::summary_bytes() const {
    std::uint64_t names = 0;
    for (std::size_t i = 1; i < shared_.config.proxies; ++i)
        names += hosts_.empty() ? announced_objects_.held(i) : announced_by_host_[i].size();
    return names * kChangeBytes;
}

}  // namespace measure
