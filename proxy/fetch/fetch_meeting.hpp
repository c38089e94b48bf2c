#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/fetch/delivery.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/fetch_peers.hpp"
#include "proxy/upstream/peer_request.hpp"

namespace proxy {

/// The part of a fetch in which the nodes of the cluster find out which of them fetches the
/// content, and the others take it from there (meeting_plan.hpp decides). Belongs to the coroutine
/// that runs the fetch, on one worker.
class FetchMeeting {
public:
    /// The node that fetches the content, as far as this node knows it.
    struct Meeting {
        std::optional<PeerOfView> to_ask;  // the meeting point, if it is a peer and asking pays
        std::string fetcher;               // empty: none is known, so this node is to fetch
        bool leads_anywhere() const { return to_ask || !fetcher.empty(); }
    };
    /// Takes what another node gives. False: it is of no use.
    using TakeHit = std::function<boost::asio::awaitable<bool>(PeerRequest&)>;

    /// All must outlive this.
    FetchMeeting(Cache& cache, FetchJob& job, Delivery& delivery, FetchPeers& peers);
    FetchMeeting(const FetchMeeting&) = delete;
    FetchMeeting& operator=(const FetchMeeting&) = delete;

    /// Another node may be fetching the same content. Precondition of all below but the last two.
    bool is_possible() const;
    /// The node that fetches it, as far as this node knows; empty: none is known.
    std::string known_fetcher() const;
    /// Another node has given blocks to this stream out of its fetch, and goes on with that, or has
    /// died, so that the meeting names another one. The origin is spared while a peer that promises
    /// this block is asked.
    bool is_fed_by_peer() const;
    /// Finds the meeting point of the key. `failed`: a node that gave nothing; empty: none.
    Meeting find_meeting(std::string_view failed);
    /// Asks who fetches, and takes the content from there as it comes. A block that lies far from
    /// there has a meeting of its own. False: this node fetches it.
    boost::asio::awaitable<bool> follow(Meeting meeting, TakeHit take);
    /// The origin is about to send a body so large that the question pays in every case, unless it
    /// was asked already. It pays too where the origin was asked beside a peer that is late,
    /// although not at that peer. A client waits meanwhile, so nothing is asked twice.
    boost::asio::awaitable<bool> follow_after_head(TakeHit take);
    /// If the peer that gives the content breaks off, another node is asked before the origin.
    void await_rest_elsewhere();
    /// A peer has named the node that fetches, or that node has given some of it.
    void note_fetcher(std::string_view node) const;

    /// The fetch asks this peer, which may leave the request without an answer.
    void asked(const std::string& node) { silent_.push_back(node); }
    void answered(const std::string& node);

private:
    enum class Followed : std::uint8_t {
        answered,   // the response came: the fetch is over
        elsewhere,  // that node is alive, but gives this request nothing: a meeting for the block,
                    // or the origin, is next
        in_vain     // that node is gone or gave nothing: ask once who else fetches
    };
    bool may_meet_for(const WantedBlock& block) const;
    summary::KeyHash meeting_key() const;
    bool is_silent(const std::string& node) const;
    bool has_left(const std::string& node) const;
    boost::asio::awaitable<bool> meet(Meeting meeting, std::string failed, TakeHit take);
    boost::asio::awaitable<void> let_block_before_ask(const std::string& failed);
    boost::asio::awaitable<bool> ask_who_fetches(Meeting& meeting, std::string_view failed,
                                                 const TakeHit& take);
    boost::asio::awaitable<Followed> follow_node(const std::string& node, const TakeHit& take);
    std::chrono::nanoseconds time_to_follow() const;
    std::chrono::nanoseconds time_for_large() const;
    boost::asio::awaitable<bool> find_rest(std::string node);
    boost::asio::awaitable<bool> take_rest(PeerRequest& asked);
    void note_own_fetch() const;
    void note_followed(const std::string& node) const;

    Cache& cache_;
    const LoadedConfig& config_;
    FetchJob& job_;
    Delivery& delivery_;
    FetchPeers& peers_;
    bool meets_for_block_ = false;  // no longer for the body
    bool has_met_ = false;          // asked who fetches it, or is asked itself
    bool is_large_ = false;         // as the origin's response has shown
    PeerNames silent_;              // that have been asked, without an answer
};

}  // namespace proxy
