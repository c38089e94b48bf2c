#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <string_view>

#include "protocol/links/link_context.hpp"
#include "protocol/links/peer_links.hpp"
#include "summary/error_control.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// Turns the crank of the publisher: hands it what is stored and removed, gives the links what it
/// announces when that is due, and does the long work on summaries and the directory in slices, one
/// for each turn of the event loop, so that links and invalidations go on between them. Must not
/// outlive what it is given. Control thread only.
class Announcer {
public:
    Announcer(LinkContext& context, PeerLinks& links);

    void stored(summary::KeyHash entry);
    void removed(summary::KeyHash entry);

    /// The more peers there are, the fewer false hits each may cost: to be called when there may be
    /// more or fewer. `anew`: also if the publisher knows that.
    void provide_for_peers(bool anew = false);
    /// What this node's questions have shown since its start: summaries are to be less wrong where
    /// more false hits are paid for than the budget says (summary/error_control.hpp).
    void note_false_hits(const summary::FalseHitsSeen& in_all);
    /// Before anything is stored: goes on with the summary of `earlier`.
    void take_over(Announcer& earlier);
    void begin_import() { context_.publisher.begin_import(); }
    void end_import();

    /// The publisher or the neighbourhood may have work.
    void plan_work();
    /// What falls due while nothing changes. To be called now and then.
    void tend();
    void stop();

private:
    void work();
    void plan_announcement();
    void announce();
    void out_of_memory(std::string_view what);
    /// In another turn of the event loop, unless all is over by then.
    void soon(void (Announcer::*step)());

    LinkContext& context_;
    PeerLinks& links_;
    boost::asio::steady_timer timer_;
    summary::ErrorControl error_control_;
    summary::FalseHitsSeen judged_;  // until then
    std::size_t provided_for_ = 0;   // peers, by the size of the summary
    bool timer_runs_ = false;
    bool announcing_ = false;  // an announcement is posted
    bool working_ = false;     // a slice is posted
    bool stopped_ = false;
};

}  // namespace protocol
