#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <string_view>

#include "protocol/links/link_context.hpp"
#include "protocol/links/peer_links.hpp"
#include "summary/error_control.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// Drives the publisher. It passes stored and removed keys to the publisher, and sends due
/// announcements to the links. It does long work on summaries and the directory in slices, one in
/// each turn of the event loop, so links and invalidations go on in between. `context` and `links`
/// must outlive it. Control thread only.
class Announcer {
public:
    Announcer(LinkContext& context, PeerLinks& links);

    void stored(summary::KeyHash entry);
    void removed(summary::KeyHash entry);

    /// Adjusts the summary's error to the number of peers: the more peers, the fewer false hits
    /// each may cost. Call it when the number may have changed. `anew`: also if the publisher knows
    /// the number.
    void provide_for_peers(bool anew = false);
    /// Takes the results of this node's peer requests since its start. Summaries get a smaller
    /// error where false hits cost more than the budget (summary/error_control.hpp).
    void note_false_hits(const summary::FalseHitsSeen& in_all);
    /// Goes on with the summary of `earlier`. Precondition: this node has stored nothing yet.
    void take_over(Announcer& earlier);
    void begin_import() { context_.publisher.begin_import(); }
    void end_import();

    /// Plans a slice if the publisher or the neighbourhood has work.
    void plan_work();
    /// Does the work that falls due while nothing changes. Called at each heartbeat.
    void tend();
    void stop();

private:
    void work();
    void plan_announcement();
    void announce();
    void out_of_memory(std::string_view what);
    /// Runs `step` in another turn of the event loop, if the links still exist then.
    void soon(void (Announcer::*step)());

    LinkContext& context_;
    PeerLinks& links_;
    boost::asio::steady_timer timer_;
    summary::ErrorControl error_control_;
    summary::FalseHitsSeen judged_;  // results judged so far
    std::size_t provided_for_ = 0;   // number of peers that the summary's size allows for
    bool timer_runs_ = false;
    bool announcing_ = false;  // an announcement is posted
    bool working_ = false;     // a slice is posted
    bool stopped_ = false;
};

}  // namespace protocol
