#include "protocol/membership/peer_finder.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/text/amount.hpp"

namespace protocol {

PeerFinder::PeerFinder(boost::asio::any_io_executor executor, base::DnsSettings dns,
                       std::chrono::nanoseconds gap, Found found)
    : executor_(std::move(executor)),
      dns_(std::move(dns)),
      gap_(gap),
      found_(std::move(found)),
      timer_(executor_) {
    dns_.most_records = 2 * kMaxPeers;
}

void PeerFinder::look_for(const std::vector<DnsPeers>& names) {
    names_.remove_if([&](const Name& name) {
        return std::find(names.begin(), names.end(), name.peers) == names.end();
    });
    for (const auto& peers : names) {
        const bool known = std::any_of(names_.begin(), names_.end(),
                                       [&](const Name& name) { return name.peers == peers; });
        if (known) continue;
        names_.emplace_back().peers = peers;
        names_.back().due = base::Clock::now();
    }
    turn();
}

void PeerFinder::look_now() {
    const auto now = base::Clock::now();
    for (auto& name : names_) {
        name.again = name.links || name.https;
        name.due = std::min(name.due, std::max(now, name.asked + gap_));
    }
    turn();
}

void PeerFinder::stop() {
    alive_.reset();
    timer_.cancel();
    names_.clear();
}

void PeerFinder::turn() {
    const auto now = base::Clock::now();
    for (auto& name : names_) {
        const bool under_way = name.links || name.https;
        if (!under_way && name.due <= now) ask(name);
    }
    wait();
}

void PeerFinder::wait() {
    auto next = base::Clock::time_point::max();
    for (const auto& name : names_) {
        if (!name.links && !name.https) next = std::min(next, name.due);
    }
    timer_.expires_at(next);
    if (next == base::Clock::time_point::max()) return;
    timer_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
        if (!error && alive.lock()) turn();
    });
}

void PeerFinder::ask(Name& name) {
    name.asked = base::Clock::now();
    name.due = base::Clock::time_point::max();
    // A question is destroyed in its handler, so the handler must not run before the question is
    // stored.
    const auto keep = [this, &name](std::unique_ptr<base::NameQuestion> Name::*question,
                                    base::NameAnswer Name::*answer) {
        return [this, &name, question, answer](base::NameAnswer given) {
            name.*answer = std::move(given);
            (name.*question).reset();
            if (!name.links && !name.https) finish(name);
        };
    };
    if (name.peers.has_ports()) {
        name.links =
            base::ask_dns(executor_, dns_, name.peers.name, keep(&Name::links, &Name::link_answer));
        return;
    }
    name.links = base::ask_srv(executor_, dns_, "_hearsay-link._tcp." + name.peers.name,
                               keep(&Name::links, &Name::link_answer));
    name.https = base::ask_srv(executor_, dns_, "_hearsay-http._tcp." + name.peers.name,
                               keep(&Name::https, &Name::http_answer));
}

void PeerFinder::finish(Name& name) {
    const bool by_services = !name.peers.has_ports();
    const auto is_answer = [](const base::NameAnswer& answer) {
        return answer.kind == base::NameAnswer::Kind::found ||
               answer.kind == base::NameAnswer::Kind::no_such_name;
    };
    const bool cut = name.link_answer.truncated || (by_services && name.http_answer.truncated);
    const auto now = base::Clock::now();
    name.good = is_answer(name.link_answer) && (!by_services || is_answer(name.http_answer));
    if (!name.good) {
        const bool silence =
            name.link_answer.kind == base::NameAnswer::Kind::silence ||
            (by_services && name.http_answer.kind == base::NameAnswer::Kind::silence);
        name.trouble = cut       ? "the answer is too long for a packet, and no name server gives "
                                   "it by TCP"
                       : silence ? "no name server answers"
                                 : "the name servers cannot say";
        name.due = now + kLookSoonest * gap_;
        log(name);
        return turn();
    }
    name.answered = now;
    name.ever = true;
    const auto places = places_of(name);
    name.places = places.size();
    const auto ttl = name.link_answer.ttl;
    name.trouble = places.empty() ? "there is no such name, or nobody behind it"
                   : cut          ? "the list is incomplete, because no name server gives it by TCP"
                                  : "";
    name.due = now + kLookUnknown * gap_;
    if (ttl.count() > 0)
        name.due = now + std::clamp<std::chrono::nanoseconds>(ttl, kLookSoonest * gap_,
                                                              kLookLatest * gap_);
    if (places.empty()) name.due = now + kLookSoonest * gap_;
    if (std::exchange(name.again, false)) name.due = now + gap_;
    log(name);
    const auto peers = name.peers;
    found_(peers, places);  // may look for other names
    if (alive_) turn();
}

void PeerFinder::log(Name& name) {
    if (name.logged == name.trouble) return;
    if (name.trouble.empty())
        spdlog::info("{} leads to {} of nodes", name.peers.name,
                     base::amount(name.places, "place"));
    else
        spdlog::warn("look-up of peers behind {}: {}", name.peers.name, name.trouble);
    name.logged = name.trouble;
}

std::vector<PeerPlace> PeerFinder::places_of(const Name& name) const {
    std::vector<PeerPlace> places;
    for (const auto& address : name.link_answer.addresses)
        places.push_back({address.to_string(), name.peers.http_port, name.peers.link_port});
    if (name.peers.has_ports()) return places;
    for (const auto& link : name.link_answer.services) {
        const auto& https = name.http_answer.services;
        const auto http = std::find_if(https.begin(), https.end(), [&](const auto& service) {
            return service.host == link.host;
        });
        if (http == https.end()) continue;
        places.push_back({link.host, http->port, link.port});
    }
    return places;
}

std::vector<PeerFinder::Report> PeerFinder::report() const {
    std::vector<Report> reports;
    for (const auto& name : names_) {
        Report report{name.peers.name, name.places, name.good, name.trouble, {}};
        if (name.ever) report.age = base::Clock::now() - name.answered;
        reports.push_back(std::move(report));
    }
    return reports;
}

}  // namespace protocol
