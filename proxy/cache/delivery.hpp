#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/fill_writer.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

class RestRequest;

/// Brings the answer of one job to those who wait for it, and to the store. Ends the fill and the
/// claim in the store once; its destructor does if nothing else did: a coroutine that is cancelled
/// leaves nobody waiting. Belongs to the coroutine that runs the fetch.
class Delivery {
public:
    /// Both must outlive this.
    Delivery(Cache& cache, FetchJob& job);
    Delivery(const Delivery&) = delete;
    Delivery& operator=(const Delivery&) = delete;
    ~Delivery();

    Cache& cache() const { return cache_; }
    FetchJob& job() const { return job_; }
    StoringRequest storing() const;
    /// What would be stored of this head; of a block if one is wanted.
    Draft draft(const Received& from) const;
    bool charge(StoredResponse& response);

    /// Who gives an answer. `upstream_status`: of the last head that was received for it, be it the
    /// 304 to a validation.
    struct Sender {
        Fill::Source source = Fill::Source::origin;
        std::string peer;
        unsigned upstream_status = 0;
        std::string server = {};  // address of the origin that sent that head; not a peer's
    };
    /// Passes one answer on: the head `from`, of which `made` is the draft, and the body as it
    /// comes. False when its source broke off.
    boost::asio::awaitable<bool> run(Exchange& exchange, const Received& from, Draft made,
                                     Sender sender);
    /// The same for a block that is but a slice of the origin's answer, from where that stands:
    /// `from` is a head for the block alone. `came` is told of its bytes. True when `exchange`
    /// stands behind it; it is left open.
    boost::asio::awaitable<bool> run_slice(Exchange& exchange, const Received& from,
                                           std::function<void(std::uint64_t)> came);
    /// The same for the origin's answer as it is.
    boost::asio::awaitable<void> pass(Exchange& exchange);
    /// An answer whose body is there already, or comes in blocks. Stored if its verdict says so.
    void give(Draft made, std::shared_ptr<const LiveFields> live, bool validated, Sender sender);

    /// Ends fill and claim without a whole response.
    void fail(FetchFailure failure);
    /// Of an answer that is not what was asked for; it may say when to ask again.
    void refuse(FetchError error, const Exchange& exchange);

private:
    const Config& config() const { return job_.wanted.request->config(); }
    static Fill::Answer answer_of(Draft& made, Sender sender,
                                  std::shared_ptr<const LiveFields> live);
    FillWriter::Watch watch_of(Exchange& exchange, Fill::Source source, RestRequest* rest);
    void settle(FetchError error, unsigned status);
    void begin(const Received& from, Draft made, Sender sender,
               const std::optional<std::uint64_t>& length);
    Draft block_draft(const Received& from) const;
    std::string version_at_origin(const Head& head, Fill::Source source) const;
    boost::asio::awaitable<FetchError> resume(std::string_view etag, FetchError broke_off,
                                              RestRequest& first);
    boost::asio::awaitable<FetchError> take_rest(RestRequest& rest);
    void note_rate(const UpstreamTarget& origin);
    boost::asio::awaitable<bool> pause(std::chrono::nanoseconds time);
    CopyUse use_of(const Sender& sender);
    StorageVerdict finish();

    Cache& cache_;
    FetchJob& job_;
    FillWriter writer_;
    std::optional<std::chrono::steady_clock::time_point> not_before_;  // by the origin's word
    bool ended_ = false;
};

}  // namespace proxy
