#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/fill_writer.hpp"
#include "proxy/fetch/resume_plan.hpp"
#include "proxy/fetch/storing.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_attempt.hpp"

namespace proxy {

class ResumeRequest;

/// Brings the response of one job to its readers and to the store. Ends the fill and the lease
/// once, at the latest in its destructor, so that a cancelled coroutine leaves no reader waiting.
/// Belongs to the coroutine that runs the fetch.
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
    /// The draft of a stored response with this head, or of a block if the job wants one.
    StoreCandidate candidate(const ReceivedHead& from) const;
    bool charge(StoredResponse& response);

    /// The sender of a response. `upstream_status`: of the last head that came for it, such as the
    /// 304 to a validation.
    struct Sender {
        Fill::From from = Fill::From::origin;
        std::string peer;
        unsigned upstream_status = 0;
        base::AddressText server =
            {};                  // address of the origin that sent that head; empty for a peer
        unsigned redirects = 0;  // that were followed to it
        bool stands_in = false;  // Fill::Incoming::stands_in
    };
    /// Passes a response on: the head `from`, with its draft `made`, and the body as it comes.
    /// Returns how the sender ended, if it is a peer: `outrun` if the origin overtook it inside a
    /// block, and `failure` if it broke off.
    boost::asio::awaitable<PeerVerdict> run(Exchange& exchange, const ReceivedHead& from,
                                            StoreCandidate made, Sender sender);
    /// The same for a block that is a slice of the origin's response, from its present position.
    /// `from` is a head for the block alone; `came` gets the number of bytes as they come. True
    /// if `exchange` stands behind the block. It stays open.
    boost::asio::awaitable<bool> run_slice(Exchange& exchange, const ReceivedHead& from,
                                           std::function<void(std::uint64_t)> came);
    /// The same for the origin's response as it is.
    boost::asio::awaitable<void> deliver(Exchange& exchange);
    /// Finds another sender for the rest of a body that the peer `node` broke off, before the
    /// origin is asked for it. It calls take_rest_of(). False: that did not bring all.
    using OtherSender = std::function<boost::asio::awaitable<bool>(std::string node)>;
    void on_break_off(OtherSender other) { other_sender_ = std::move(other); }
    /// Takes the missing bytes out of a peer's response that begins where the body did.
    boost::asio::awaitable<FetchError> take_rest_of(Exchange& exchange);
    /// The response brings the body, or block, that a peer began: the same bytes from the first on.
    bool is_same_again(const Exchange& exchange) const;
    /// The origin's response to a request for the rest of a block, which goes on behind the block.
    struct Behind {
        std::shared_ptr<OriginAttempt> origin;
        ByteRange range;  // of the whole body
    };
    /// After run(): takes that, if there is one.
    std::optional<Behind> take_behind() { return std::exchange(behind_, std::nullopt); }
    /// Gives a response whose body is there already, or comes in blocks. Its verdict decides about
    /// storing.
    void give(StoreCandidate made, std::shared_ptr<const LiveFields> live, bool validated,
              Sender sender);

    /// Ends fill and lease without a whole response.
    void fail(FetchFailure failure);
    /// Fails with a response that is not the requested one, and keeps its Retry-After.
    void refuse(FetchError error, const Exchange& exchange);

private:
    const LoadedConfig& config() const { return job_.wanted.request->config(); }
    static Fill::Incoming incoming_of(StoreCandidate& made, Sender sender,
                                      std::shared_ptr<const LiveFields> live);
    FillWriter::Watch watch_of(Exchange& exchange, Fill::From from, ResumeRequest* rest);
    bool leaves_run();
    void settle(FetchError error, unsigned status);
    void begin(const ReceivedHead& from, StoreCandidate made, Sender sender,
               const std::optional<std::uint64_t>& length);
    StoreCandidate block_candidate(const ReceivedHead& from) const;
    StorageVerdict verdict_of_part(const Head& head) const;
    bool is_for_fewer(const Head& rest) const;
    OriginVersion version_at_origin(const ReceivedHead& from, Fill::From sent_by) const;
    boost::asio::awaitable<FetchError> resume(const OriginVersion& version, FetchError broke_off,
                                              ResumeRequest& first);
    void ask_on(ResumeRequest& rest);
    boost::asio::awaitable<FetchError> take_rest(ResumeRequest& rest);
    void note_rate(const UpstreamTarget& origin);
    boost::asio::awaitable<bool> pause(std::chrono::nanoseconds time);
    CopyUse use_of(const Sender& sender);
    void tell_peers(const StoredResponse& response, const Sender& sender,
                    const std::optional<std::uint64_t>& length);
    StorageVerdict finish();
    /// Counts the verdict, and notes the reason against storing for explanations.
    void count(StorageVerdict verdict);

    Cache& cache_;
    FetchJob& job_;
    FillWriter writer_;
    OtherSender other_sender_;
    std::optional<Behind> behind_;
    std::optional<std::chrono::steady_clock::time_point>
        not_before_;  // by the origin's Retry-After
    bool ended_ = false;
};

}  // namespace proxy
