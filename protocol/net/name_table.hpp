#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/net/error.hpp"

namespace protocol {

using Addresses = std::vector<boost::asio::ip::address>;

inline constexpr std::size_t kMaxNamesKept = 1024;
/// Names being looked up at once, those of the configuration included, for which some are kept
/// back. One client may have a part of them: a few others are not enough to keep everybody waiting.
inline constexpr std::size_t kMaxNamesInFlight = 256;
inline constexpr std::size_t kMaxClientNamesInFlight = 224;
inline constexpr std::size_t kMaxNamesInFlightPerClient = 32;
static_assert(kMaxNamesInFlight < kMaxNamesKept);

/// Bounds of how long an answer counts, whatever its TTL says: a name that changes with every
/// answer does not cost a look-up per request, and a mistake does not last for days.
inline constexpr std::chrono::seconds kLeastKept{1};
inline constexpr std::chrono::seconds kMostKept{3600};
inline constexpr std::chrono::seconds kNoSuchNameKept{5};
inline constexpr std::chrono::seconds kTroubleKept{1};
/// Serving stale (RFC 8767): an expired answer stands in while the servers are silent or in
/// trouble, for so long; who asks waits a moment for a fresh one, not at all once one try has
/// failed; and the servers are asked again at such intervals.
inline constexpr std::chrono::hours kStaleKept{24};
inline constexpr std::chrono::milliseconds kStalePatience{500};
inline constexpr std::chrono::seconds kStaleRetry{5};

/// What came of one look-up.
struct NameAnswer {
    enum class Kind {
        found,
        no_such_name,  // the servers say that it does not exist, or has no address
        silence,       // no server answered
        trouble,       // the servers cannot say
    };
    struct Service {  // an SRV record (RFC 2782)
        std::string host;
        std::uint16_t port = 0;
    };
    Kind kind = Kind::trouble;
    Addresses addresses;
    std::chrono::seconds ttl{0};
    std::vector<Service> services{};  // of ask_srv()
};

/// The names that a resolver knows, and which of them are to be looked up. Function of (state,
/// event, now).
class NameTable {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Known = Result<Addresses>;

    /// `most_kept`: an answer counts no longer than that, see kMostKept.
    explicit NameTable(std::chrono::nanoseconds most_kept = kMostKept) : most_kept_(most_kept) {}

    struct Decision {
        std::optional<Known> answer;     // to be given now
        bool look_up = false;            // begin a look-up; its end is told by answered()
        std::optional<Addresses> stale;  // may be given when that takes longer than kStalePatience
    };
    /// `client`: on whose behalf; empty: the node's own.
    Decision ask(const std::string& name, std::string_view client, Time now);
    /// What those are told who waited for this look-up.
    Known answered(const std::string& name, NameAnswer answer, Time now);

    std::size_t size() const { return names_.size(); }

private:
    struct Name {
        Addresses addresses;  // the last that were good; empty: none
        Error error = Error::resolve_failed;
        Time fresh_until{}, stale_until{}, retry_at{};
        bool in_flight = false;
        bool in_trouble = false;  // the last try failed
        bool own = false;         // asked for by the node itself
        std::string client;       // of the look-up in flight
        bool may_be_stale(Time now) const { return !addresses.empty() && now < stale_until; }
        Known known() const;
    };
    bool may_look_up(std::string_view client) const;
    void make_room(Time now);

    std::chrono::nanoseconds most_kept_;
    std::unordered_map<std::string, Name> names_;
    std::size_t in_flight_ = 0, clients_in_flight_ = 0;
    std::unordered_map<std::string, std::size_t> in_flight_of_;  // by client
};

}  // namespace protocol
