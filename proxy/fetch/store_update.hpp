#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/fetch/body_writer.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/storing.hpp"

namespace proxy {

// The effects of relayed responses on the store.

/// A relayed exchange, once the head of its response has come. All must outlive this.
struct RelayedExchange {
    const StoringRequest& storing;
    boost::beast::http::verb method;
    summary::KeyHash hash;  // of the request's key
    const ReceivedHead& response;
    /// When the request went out. A later invalidation ends the content of the response.
    Store::Clock::time_point sent_at;
};

/// Learns from the response to a HEAD. Only a 200 counts, and fills are left alone. By judge_head()
/// the stored response gets its fields, as by a 304, becomes stale or ends.
void learn_from_head(Cache& cache, const RelayedExchange& relayed);

/// The effect of a 200 to a HEAD on the stored response (RFC 9111 §4.3.5).
enum class HeadFreshening : std::uint8_t {
    nothing,   // it agrees, and each use of the stored response needs a validation anyway
    freshens,  // it agrees: a lifetime begins anew
    outdates,  // it may be of another representation, so a GET decides
    ends,      // its origin wants it stored no more
};
/// `verdict`: of the response by itself. It agrees if speaks_of() says so. A HEAD does not decide
/// for whom the stored response is: `personal` and no-cache stay, and a response without a lifetime
/// gets none.
HeadFreshening judge_head(const Head& answer, StorageVerdict verdict, const StoredResponse& stored,
                          Fields fields, const StoringRule* rule = nullptr);

/// True if the response to a HEAD is about the stored response. It must repeat every stored
/// validator, at least one, and contradict none of length, coding, type, language and choice
/// (Vary). A server that leaves validators out says nothing of them. `fields`: those of `stored`.
/// `rule`: of the target; null: there is none.
bool speaks_of(const Head& answer, const StoredResponse& stored, Fields fields,
               const StoringRule* rule = nullptr);

/// Puts a response that another rule judged under `policy`: it is stale from now on, so that its
/// next validation judges it, and it may stand in for the origin as `policy` says. False: it has
/// left, or finds no room.
bool judge_anew(Cache& cache, summary::KeyHash hash, std::string_view uri,
                const StoredResponse& stored, const SitePolicy& policy,
                Store::Clock::time_point now);

/// The invalidation after a success of an unsafe method, here and at all peers: the target, the
/// targets of Location and Content-Location at the same origin (RFC 9111 §4.4), and the groups that
/// the response names (RFC 9875). `rules` may change the keys of these targets.
struct UnsafeInvalidation {
    std::size_t count = 0;  // URIs and groups
    /// The disk has to forget something: Store::when_kept().
    bool on_disk = false;
};
UnsafeInvalidation invalidate_after(SharedCache& cache, const RuleTable& rules, const CacheKey& key,
                                    const Head& answer, Store::Clock::time_point now);

/// True if the request may have been executed although its response is lost: some of it went out.
/// The responses that it could have changed are unusable then, too.
bool may_have_taken_effect(FetchError error);

/// True if the response to a request of `method` says by Content-Location that a GET of the target
/// would bring the same (RFC 9110 §9.3.3).
bool names_its_own_target(boost::beast::http::verb method, const RuleTable& rules,
                          const Head& answer, const CacheKey& key);

/// A copy for the store of a response to POST that names its own target and states a lifetime. It
/// is judged as the response to the GET that it stands in for, so the rule for GET decides; a rule
/// with `bypass` for either method forbids it. Any other response is ignored. No reader waits for
/// the copy. One thread, that of the relay.
class KeptCopy {
public:
    using Clock = Store::Clock;

    /// To be made before invalidate_after(). `length`: of the body, if known. `fields`: by
    /// render_response().
    KeptCopy(Cache& cache, const RelayedExchange& relayed, std::optional<std::uint64_t> length,
             FieldBlock fields);
    /// The response itself has just made this many invalidations. The copy ignores them.
    void has_invalidated(std::size_t count);
    /// Takes bytes of the body. The copy ends if it is too large or finds no room.
    void append(std::string_view piece, Clock::time_point now);
    /// Stores the complete body.
    void finish(Clock::time_point now);

private:
    struct Copy {
        Copy(Cache& cache, const SitePolicy& policy, summary::KeyHash hash, std::string_view uri);

        const std::shared_ptr<Fill> fill;
        FillLease lease;
        BodyWriter writer;
    };

    Store& store_;
    std::unique_ptr<Copy> copy_;  // null: there is no copy
    std::uint64_t invalidations_ = 0;
};

}  // namespace proxy
