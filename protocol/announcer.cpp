#include "protocol/announcer.hpp"

#include <boost/asio/post.hpp>
#include <memory>
#include <new>
#include <utility>

#include "protocol/membership/membership.hpp"

namespace protocol {

Announcer::Announcer(LinkContext& context, PeerLinks& links)
    : context_(context), links_(links), timer_(context.executor) {}

void Announcer::stored(summary::KeyHash entry) {
    context_.publisher.stored(entry, Clock::now());
    plan_announcement();
}

void Announcer::removed(summary::KeyHash entry) {
    context_.publisher.removed(entry, Clock::now());
    plan_announcement();
}

void Announcer::provide_for_peers(bool anew) {
    const auto& config = context_.config;
    const bool open = !config.dns_peers.empty();
    const auto peers = peers_provided_for(
        open, open ? context_.membership.size() : config.peers.size(), provided_for_);
    if (std::exchange(provided_for_, peers) == peers && !anew) return;
    context_.publisher.set_error(error_control_.error(config.false_hit_budget, peers));
    plan_work();
}

void Announcer::note_false_hits(const summary::FalseHitsSeen& in_all) {
    using Judgement = summary::ErrorControl::Judgement;
    const summary::FalseHitsSeen seen{in_all.misses - judged_.misses,
                                      in_all.collisions - judged_.collisions};
    const auto verdict = error_control_.judge(context_.config.false_hit_budget, seen);
    if (verdict == Judgement::too_early) return;
    judged_ = in_all;
    if (verdict == Judgement::corrected) provide_for_peers(true);
}

void Announcer::take_over(Announcer& earlier) {
    context_.publisher.take_over(earlier.context_.publisher);
    provided_for_ = earlier.provided_for_;
    error_control_ = earlier.error_control_;
    judged_ = earlier.judged_;
}

void Announcer::end_import() {
    context_.publisher.end_import();
    plan_work();
}

void Announcer::stop() {
    stopped_ = true;
    timer_.cancel();
}

void Announcer::soon(void (Announcer::*step)()) {
    boost::asio::post(context_.executor, [this, step, anchor = std::weak_ptr(context_.anchor)] {
        if (const auto still = anchor.lock()) (this->*step)();
    });
}

void Announcer::plan_work() {
    if (working_ || stopped_) return;
    if (!context_.publisher.busy() && !context_.neighbours.busy()) return;
    working_ = true;
    soon(&Announcer::work);
}

void Announcer::work() {
    working_ = false;
    if (stopped_) return;
    try {
        const bool made_image = context_.publisher.makes_image();
        const auto news = context_.publisher.work();
        if (news) links_.offer(*news);
        if (made_image && !context_.publisher.makes_image()) links_.wake();
        context_.neighbours.work();
    } catch (const std::bad_alloc&) {
        return out_of_memory("work on summaries");
    }
    context_.show_view();
    plan_work();
}

/// A peer that missed an announcement by it sees a gap, and requests a snapshot.
void Announcer::out_of_memory(std::string_view what) {
    context_.log.ended(what, make_error_code(Error::out_of_memory), "goes on at the next heartbeat",
                       Clock::now());
}

/// Changes that arrive in one turn of the event loop are announced together.
void Announcer::plan_announcement() {
    if (announcing_ || stopped_) return;
    const auto due = context_.publisher.announce_due();
    if (!due) return;
    if (*due <= Clock::now()) {
        announcing_ = true;
        soon(&Announcer::announce);
    } else if (!std::exchange(timer_runs_, true)) {
        timer_.expires_at(*due);
        timer_.async_wait([this, anchor = std::weak_ptr(context_.anchor)](const auto& error) {
            const auto still = anchor.lock();
            if (!still) return;
            timer_runs_ = false;
            if (!error) plan_announcement();
        });
    }
}

void Announcer::announce() {
    announcing_ = false;
    if (stopped_) return;
    try {
        const auto announcement = context_.publisher.announce(Clock::now());
        if (announcement) links_.offer(*announcement);
    } catch (const std::bad_alloc&) {
        return out_of_memory("announcement of changes");
    }
    plan_work();
    plan_announcement();
}

void Announcer::tend() {
    plan_work();
    plan_announcement();
    if (const auto due = context_.publisher.check(Clock::now())) links_.offer(*due);
}

}  // namespace protocol
