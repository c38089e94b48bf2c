#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/cache/body_writer.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/cache/storing.hpp"

namespace proxy {

// What the store learns from answers that are relayed. `hash`: of the request's key.

/// After the head of the answer to a HEAD. Only 200 says anything, and nothing is learnt of what is
/// on its way. By judge_head() the stored response gets its fields, as by a 304, becomes stale or
/// ends. `asked`: before the request went out; what has been invalidated since then, by what the
/// answer says, ends.
void learn_from_head(Cache& cache, const StoringRequest& storing, summary::KeyHash hash,
                     const Received& answer, Store::Clock::time_point asked);

/// What a 200 to a HEAD does to what is stored (RFC 9111 §4.3.5).
enum class HeadLearned : std::uint8_t {
    nothing,   // it agrees, and what is stored has to be validated each time all the same
    freshens,  // it agrees: a lifetime can begin anew
    outdates,  // it may be of another representation, so a GET has to say
    ends,      // its origin does not want it stored any more
};
/// `verdict`: of the answer by itself. The answer agrees if speaks_of() says so. Whom the stored
/// response is for is not for a HEAD to say: it takes away neither `personal` nor no-cache, and
/// gives no lifetime to what has none.
HeadLearned judge_head(const Head& answer, StorageVerdict verdict, const StoredResponse& stored,
                       Fields fields);

/// Does the answer to a HEAD speak of what is stored? It must repeat every validator that is
/// stored, of which there must be one, and say nothing of another length, coding, type, language or
/// choice (Vary). A server that leaves validators out says nothing of them. `fields`: those of
/// `stored`.
bool speaks_of(const Head& answer, const StoredResponse& stored, Fields fields);

/// The target, and what Location and Content-Location name at the same origin, after a success of
/// an unsafe method (RFC 9111 §4.4), and the groups that it names (RFC 9875): here and at all
/// peers.
struct Invalidated {
    std::size_t count = 0;  // URIs and groups
    /// The disk has to forget something: SharedCache::when_kept().
    bool on_disk = false;
};
Invalidated invalidate_after(SharedCache& cache, const CacheKey& key, const Head& answer,
                             Store::Clock::time_point now);

/// May the request have been executed, though nobody will see the answer that says so? It may once
/// something of it went out. Then what it could have changed is not to be used either.
bool may_have_taken_effect(FetchError error);

/// Does this answer to a request of `method` say, by Content-Location, that it is what a GET of the
/// same target would bring (RFC 9110 §9.3.3)?
bool names_its_own_target(boost::beast::http::verb method, const Head& answer, const CacheKey& key);

/// A copy for the store of an answer to POST that names its own target and says for how long it is
/// good. Of any other answer it keeps nothing. Nobody waits for it.
class KeptCopy {
public:
    using Clock = Store::Clock;

    /// Before invalidate_after(). `length`: of its body, if known; `head` as render_response() made
    /// it; `asked`: before the request went out. What was invalidated since then is not kept.
    KeptCopy(Cache& cache, const StoringRequest& storing, boost::beast::http::verb method,
             summary::KeyHash hash, const Received& answer, std::optional<std::uint64_t> length,
             std::string_view head, Clock::time_point asked);
    /// The answer itself has just invalidated so many: that does not count.
    void has_invalidated(std::size_t count);
    /// What comes of the body; gives up when it is too large or there is no room.
    void append(std::string_view piece, Clock::time_point now);
    /// The body is complete: stores it.
    void finish(Clock::time_point now);

private:
    struct Copy {
        Copy(Cache& cache, const SitePolicy& policy, summary::KeyHash hash, std::string_view uri);

        const std::shared_ptr<Fill> fill;
        Claim claim;
        BodyWriter writer;
    };

    Store& store_;
    std::unique_ptr<Copy> copy_;  // null: nothing is kept
    std::uint64_t invalidations_ = 0;
};

}  // namespace proxy
