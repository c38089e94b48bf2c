#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/peer_response_plan.hpp"
#include "proxy/cache/response_plan.hpp"
#include "proxy/client/client_context.hpp"
#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/selecting.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

struct FetchJob;

/// Answers one request out of the store, or by way of it: what is missing is fetched for the store,
/// and others follow. One for each request; the client outlives it. Each answer is true when the
/// connection can carry another request.
class ResponseFromCache {
public:
    explicit ResponseFromCache(ClientContext& client)
        : client_(client), frontend_(client.frontend) {}

    /// GET or HEAD of a client.
    boost::asio::awaitable<bool> run();
    /// A peer's question: from the store, or from a fill that the origin feeds and whose head is
    /// there; else 504 with the reason, at once. Nobody is asked on its behalf. Of a body in
    /// blocks it gets the head alone, then each block for itself. By HEAD it asks whether it would
    /// be given anything; that is in no books.
    boost::asio::awaitable<bool> run_for_peer(std::size_t peer, PeerRequestOptions options);

private:
    using Stored = std::shared_ptr<const StoredResponse>;

    /// How a wait for a fetch ended.
    enum class Followed {
        keep,
        close,
        alone,  // its answer is not for this request
        again,  // look into the store once more
    };

    static Followed ended(bool keep) { return keep ? Followed::keep : Followed::close; }
    boost::asio::awaitable<Followed> once();
    Store::Found look_up(summary::KeyHash hash, std::string_view uri, const Selecting& request,
                         std::chrono::steady_clock::time_point now) const;
    boost::asio::awaitable<Store::Found> recall(Store::Found found, summary::KeyHash hash,
                                                std::string_view uri);
    Asking asking() const;
    std::unique_ptr<FetchJob> make_job(const Store::Found& found);
    void refresh(const Store::Found& found);
    boost::asio::awaitable<Followed> lead(std::unique_ptr<FetchJob> job, Stored stale,
                                          CacheStatus status);
    boost::asio::awaitable<Followed> follow(std::shared_ptr<Fill> fill, Stored stale,
                                            CacheStatus status);
    boost::asio::awaitable<Followed> read(Fill::Reader& reader, bool leader, Stored stale,
                                          CacheStatus status);
    boost::asio::awaitable<Followed> answer_read(Fill::Reader& reader, Fill::State state,
                                                 bool leader, CacheStatus status);
    boost::asio::awaitable<bool> lies_far_ahead(const Fill::Reader& reader,
                                                const Fill::State& state);
    bool stands_in(const Stored& stale, FetchError error) const;
    boost::asio::awaitable<Followed> answer_failure(Fill::State state, Stored stale,
                                                    CacheStatus status);
    boost::asio::awaitable<Followed> answer_whole(Stored response, CacheStatus status);
    boost::asio::awaitable<Followed> answer_in_blocks(Stored index, CacheStatus status,
                                                      const LiveFields* live, bool leads);
    boost::asio::awaitable<bool> send_head_alone(const StoredResponse& response,
                                                 const CacheStatus& status);
    boost::asio::awaitable<bool> give_growing(Fill::Reader& reader, Fill::State state);
    boost::asio::awaitable<bool> refuse_peer(Refusal reason, std::string_view lines = {});
    boost::asio::awaitable<bool> refuse_to_fetch();  // only-if-cached

    boost::asio::awaitable<void> pass_interim(Fill::Reader& reader);
    bool may_reuse(const StoredResponse& response) const;
    bool is_variant(const StoredResponse& response);
    Selecting selecting();
    void note_source(const Fill::State& state, bool leader);
    void gave();

    ClientContext& client_;
    Frontend& frontend_;
    std::string peer_detail_;
    std::shared_ptr<const RequestSnapshot> request_;  // of the last fetch that this has led
    std::optional<HashedFields> hashed_;              // of a peer's question
    int vain_waits_ = 0;  // for what others fetched and was not for this request
    bool may_use_blocks_ = true;
};

}  // namespace proxy
