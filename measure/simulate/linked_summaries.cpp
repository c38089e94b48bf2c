#include "measure/simulate/linked_summaries.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "protocol/wire/frame.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "summary/coding/judge.hpp"

namespace measure {
namespace {

/// Messages one way until a link is up: hello, proof, and the first announcement.
constexpr int kHelloWays = 4;

}  // namespace

LinkedSummaries::LinkedSummaries(const KnowledgeInputs& shared, SimulatedLines& lines)
    : PublishedKnowledge(shared, Delivery::at_once),
      lines_(lines),
      beat_(protocol::beat_interval(timings_.heartbeat, shared.config.proxies - 1)),
      random_(shared.config.seed ^ 0x11) {
    const auto count = shared.config.proxies;
    for (std::size_t i = 0; i < count; ++i) received_.emplace_back(count);
    links_.resize(count * count);
    for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) {
            if (from == to) continue;
            link(from, to).from = from;
            link(from, to).to = to;
            add(Event::What::up, from * count + to, shared.start);
            for (const auto& cut : shared.config.network.partitions) {
                if ((from < cut.proxies) == (to < cut.proxies)) continue;
                const auto silent = timings_.gone_after - up_to(timings_.heartbeat);
                if (cut.until - cut.from > silent)
                    add(Event::What::down, from * count + to, shared.start + cut.from + silent);
            }
        }
    }
}

LinkedSummaries::Duration LinkedSummaries::up_to(Duration most) {
    return Duration(random_.below(static_cast<std::uint64_t>(most.count()) + 1));
}

void LinkedSummaries::add(Event event) {
    event.number = events_made_++;
    events_.push(std::move(event));
}

void LinkedSummaries::add(Event::What what, std::size_t of, TimePoint at) {
    Event event;
    event.at = at;
    event.what = what;
    event.of = of;
    if (what != Event::What::announce) event.instance = links_[of].instance;
    add(std::move(event));
}

void LinkedSummaries::advance(TimePoint now) {
    while (!events_.empty() && events_.top().at <= now) {
        const auto event = events_.top();
        events_.pop();
        handle(event);
    }
}

void LinkedSummaries::handle(const Event& event) {
    if (event.what == Event::What::announce) return awake(event.of, event.at);
    auto& link = links_[event.of];
    if (event.what == Event::What::down) {
        go_down(link);
        return add(Event::What::up, event.of, event.at);
    }
    if (event.instance != link.instance) return;
    switch (event.what) {
        case Event::What::there:
        case Event::What::back:
            return receive(link, event, event.at);
        case Event::What::beat:
            link.beats = false;
            if (is_behind(link)) speak(link, event.at);
            return;
        default:
            break;
    }
    if (lines_.reaches(link.from, link.to, event.at)) return go_up(link, event.at);
    // The subscriber dials until the publisher answers.
    const auto again = timings_.connect + timings_.reconnect_max;
    add(Event::What::up, event.of,
        lines_.reachable_from(link.from, link.to, event.at) + up_to(again) +
            kHelloWays * lines_.delay());
}

/// All peers notice the end of the earlier instance. The restarted proxy dials them first, then
/// they dial it.
void LinkedSummaries::restarted(std::size_t proxy, TimePoint now) {
    begin_anew(proxy, now);
    received_[proxy] = ReceivedSummaries(received_.size());
    const auto count = received_.size();
    for (std::size_t peer = 0; peer < count; ++peer) {
        if (peer == proxy) continue;
        go_down(link(proxy, peer));
        go_down(link(peer, proxy));
        add(Event::What::up, proxy * count + peer, now + kHelloWays * lines_.delay());
        add(Event::What::up, peer * count + proxy, now + 2 * kHelloWays * lines_.delay());
    }
}

void LinkedSummaries::wake(std::size_t proxy, TimePoint at) {
    add(Event::What::announce, proxy, at);
}

void LinkedSummaries::offer(std::size_t proxy, const protocol::Announcement& announcement,
                            TimePoint now) {
    announced_objects_.announce(proxy);
    for (std::size_t to = 0; to < received_.size(); ++to) {
        auto& link = this->link(proxy, to);
        if (!link.outbox) continue;
        if (!announcement.delta || !lines_.drops()) {
            link.outbox->offer(announcement);
            speak(link, now);
        }
        see_to_beats(link, now);
    }
}

bool LinkedSummaries::is_behind(const Link& link) const {
    if (!link.session) return true;
    const auto& own = publisher(link.from).own();
    const auto& replica = link.session->replica();
    return !link.session->in_sync() || replica.epoch() != own.epoch() ||
           replica.generation() != own.generation();
}

/// Sends all messages that the publisher has now.
void LinkedSummaries::speak(Link& link, TimePoint now) {
    auto& publisher = this->publisher(link.from);
    do {
        while (link.outbox) {
            const auto message = link.outbox->next(publisher, now);
            if (!message) break;
            send(link, Event::What::there, *message, now);
        }
        if (!publisher.makes_image()) break;
        finish_work(link.from, now);
    } while (link.outbox);
    see_to_beats(link, now);
}

/// Sends the subscriber's requests. Its heartbeats would change nothing, so they are left out.
void LinkedSummaries::answer(Link& link, TimePoint now) {
    while (link.session->due() == TimePoint::min()) {
        const auto message = link.session->next(now);
        if (!message) return;
        send(link, Event::What::back, *message, now);
    }
}

/// While one end is behind the other, the next heartbeat may reveal it. Heartbeats in step are not
/// simulated, so the time of the next one is drawn at random.
void LinkedSummaries::see_to_beats(Link& link, TimePoint now) {
    if (link.beats || !link.outbox || !is_behind(link)) return;
    link.beats = true;
    const auto due = link.outbox->due();
    add(Event::What::beat, link.from * received_.size() + link.to,
        due > now ? due : now + up_to(beat_));
}

void LinkedSummaries::send(Link& link, Event::What way, const protocol::Message& message,
                           TimePoint now) {
    auto body = std::make_shared<protocol::Bytes>();
    encode_body(message, *body);
    const bool begins = std::holds_alternative<protocol::SnapshotBegin>(message);
    if (begins || std::holds_alternative<protocol::Delta>(message)) ++announced_.messages;
    if (begins) ++announced_.snapshots;
    if (begins || std::holds_alternative<protocol::Delta>(message) ||
        std::holds_alternative<protocol::SnapshotPart>(message))
        announced_.bytes += protocol::kTaggedOverheadBytes + body->size();
    auto& last = way == Event::What::there ? link.there : link.back;
    last = std::max(last, lines_.reachable_from(link.from, link.to, now) + lines_.delay());
    Event event;
    event.at = last;
    event.what = way;
    event.of = link.from * received_.size() + link.to;
    event.instance = link.instance;
    event.type = static_cast<std::uint8_t>(type_of(message));
    event.body = std::move(body);
    add(std::move(event));
}

void LinkedSummaries::receive(Link& link, const Event& event, TimePoint now) {
    const auto message = protocol::decode(event.type, *event.body);
    if (event.what == Event::What::back) {
        if (std::holds_alternative<protocol::SnapshotRequest>(*message)) {
            link.outbox->want_snapshot();
            speak(link, now);
        }
        return;
    }
    const auto action = link.session->on_message(*message, now);
    const auto from = static_cast<unsigned>(link.from);
    if (action) {
        if (std::holds_alternative<protocol::SyncSession::Load>(*action))
            received_[link.to].load(from, link.session->replica().filter());
        if (const auto* change = std::get_if<protocol::SyncSession::Change>(&*action))
            received_[link.to].apply(from, change->what);
        if (std::holds_alternative<protocol::SyncSession::Close>(*action)) {
            go_down(link);
            return add(Event::What::up, event.of, now + timings_.reconnect_min);
        }
    }
    answer(link, now);
}

void LinkedSummaries::go_up(Link& link, TimePoint now) {
    const protocol::Outbox::Config outbox{.heartbeat = beat_};
    const protocol::SyncSession::Config session{.heartbeat = timings_.heartbeat};
    link.outbox.emplace(outbox, now);
    link.session.emplace(session, now);
    link.there = link.back = now;
    speak(link, now);
}

/// Drops the messages in transit, and the summary that the subscriber has received.
void LinkedSummaries::go_down(Link& link) {
    received_[link.to].drop(static_cast<unsigned>(link.from));
    link.outbox.reset();
    link.session.reset();
    link.beats = false;
    ++link.instance;
}

summary::PeerSet LinkedSummaries::candidates(std::size_t proxy, std::uint32_t object) const {
    return received_[proxy].candidates(shared_.objects.key(object));
}

bool LinkedSummaries::was_announced(std::size_t proxy, std::size_t peer,
                                    std::uint32_t object) const {
    return AnnouncedKnowledge::was_announced(proxy, peer, object) || is_behind(link(peer, proxy));
}

/// Its own summary, its directory, and those replicas of peers whose filters a node would keep
/// outside the directory.
std::uint64_t LinkedSummaries::summary_bytes() const {
    std::uint64_t bytes = publisher(0).own().memory_bytes() + received_[0].memory_bytes();
    for (std::size_t peer = 1; peer < received_.size(); ++peer) {
        const auto& session = link(peer, 0).session;
        if (!session || received_[0].keeps_filter(static_cast<unsigned>(peer))) continue;
        bytes += summary::replica_bytes(session->replica().descriptor()).value_or(0);
    }
    return bytes;
}

}  // namespace measure
