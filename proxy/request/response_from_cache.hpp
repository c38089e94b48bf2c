#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "proxy/fetch/response_plan.hpp"
#include "proxy/request/body_sender.hpp"
#include "proxy/request/cache_lookup.hpp"
#include "proxy/request/response_from_fill.hpp"
#include "proxy/request/response_in_blocks.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

struct FetchJob;

/// Responds to a GET or HEAD of a client out of the store or through it: missing content is fetched
/// for the store, and other requests follow the fetch. RequestSteps calls the public steps in the
/// order of their declaration, until one has responded. One object for each request, on the thread
/// of its connection; the transaction outlives it.
class ResponseFromCache {
public:
    explicit ResponseFromCache(Transaction& transaction)
        : transaction_(transaction),
          service_(transaction.service),
          request_(transaction.request),
          stats_(transaction.stats),
          lookup_(transaction) {}

    /// Looks up, and responds without a coroutine if that finds a fresh response in memory. True:
    /// all has gone out.
    bool respond_at_once();
    /// respond_at_once() has begun, and respond_with_rest() follows. Else look_up() does, which
    /// takes over what was found.
    bool is_under_way() const { return rest_ != nullptr; }
    boost::asio::awaitable<void> respond_with_rest();

    /// False: the stored content has changed too often under this request.
    bool may_look_up();
    void look_up();
    void look_up(std::chrono::steady_clock::time_point now);
    /// Memory lacks the response, and the disk may have it: recall() comes next.
    bool is_on_disk() const { return found_.on_disk; }
    boost::asio::awaitable<void> recall();
    /// Looks again if a stored response varies, by fields that include the forwarded ones.
    void select_variant();

    /// Decides about the response, notes the reason in the statistics, and begins the renewal of a
    /// stale response that is served meanwhile.
    ResponsePlan plan();

    // By a plan that serves:
    /// Why the stored response is refused as too young, if so.
    std::optional<std::string> why_too_young() const {
        return transaction_.why_too_young(*found_.response);
    }
    bool is_in_blocks() const;
    boost::asio::awaitable<ServeResult> respond_in_blocks() { return respond_in_blocks(status_); }
    boost::asio::awaitable<void> respond_whole() { return respond_whole(status_); }
    // By any other plan:
    boost::asio::awaitable<ServeResult> fetch_or_follow(ResponsePlan plan);

    // After a failure of the origin that this object has not met itself:
    /// May the stored response be given to this client in place of one that could not be fetched?
    bool stands_in(FetchError error) const;
    /// Gives it. `status`: of the origin's response, 0 without one.
    boost::asio::awaitable<ServeResult> stand_in(FetchError error, unsigned status);

    /// Why the store could not serve the request.
    Forward forward() const { return forward_; }

private:
    using Stored = std::shared_ptr<const StoredResponse>;

    boost::asio::awaitable<ServeResult> respond_in_blocks(const CacheStatus& status);
    boost::asio::awaitable<void> respond_whole(const CacheStatus& status);
    void serve_stored(const ResponsePlan& plan, std::chrono::seconds residence);
    StoreFacts store_facts() const;
    bool is_unsure(const StoredMetadata& stored) const;
    RequestFacts request_facts() const;
    std::unique_ptr<FetchJob> make_job();
    void renew();
    void fill_behind();
    boost::asio::awaitable<ServeResult> lead(std::unique_ptr<FetchJob> job);
    boost::asio::awaitable<ServeResult> follow(std::shared_ptr<Fill> fill);
    boost::asio::awaitable<ServeResult> follow_confirmed(std::shared_ptr<Fill> fill);
    boost::asio::awaitable<ServeResult> read(Fill::Reader& reader, bool leads);
    boost::asio::awaitable<void> pass_interim(const std::vector<InterimResponse>& responses);
    FollowerWait seen(const FillResponse& from, bool came_first) const;
    boost::asio::awaitable<bool> lies_far_ahead(const Fill::Reader& reader,
                                                const Fill::State& state);
    boost::asio::awaitable<ServeResult> respond(const FillResponse& from);
    boost::asio::awaitable<ServeResult> respond_to_failure(const Fill::State& state);

    Transaction& transaction_;
    ClientService& service_;
    Request& request_;
    RequestStats& stats_;
    CacheLookup lookup_;
    Store::Found found_;
    CacheStatus status_;  // by the last plan
    Forward forward_ = Forward::uri_miss;
    std::string detail_;                           // that status_ may view
    std::shared_ptr<const RequestSnapshot> sent_;  // of the last fetch that this request has led
    bool looked_up_ = false;                       // by respond_at_once()
    std::unique_ptr<BodySender> rest_;             // of the response that it has begun
    int looks_ = 0;
    int vain_waits_ = 0;        // for fetches of others whose result was not for this request
    bool saw_failure_ = false;  // of another's fetch: may_be_of_one_answer()
    bool may_use_blocks_ = true;
};

}  // namespace proxy
