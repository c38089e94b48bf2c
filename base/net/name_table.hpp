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

#include "base/async/error.hpp"

namespace base {

using Addresses = std::vector<boost::asio::ip::address>;

inline constexpr std::size_t kMaxNamesKept = 1024;
/// Limit of look-ups in flight, including those of configured names, for which some are reserved.
/// One client may use a part of them, so that a few clients cannot block all others.
inline constexpr std::size_t kMaxNamesInFlight = 256;
inline constexpr std::size_t kMaxClientNamesInFlight = 224;
inline constexpr std::size_t kMaxNamesInFlightPerClient = 32;
static_assert(kMaxNamesInFlight < kMaxNamesKept);

/// Bounds of an answer's lifetime, whatever its TTL. A name that changes with every answer is
/// looked up less than once per request, and a mistake ends within hours.
inline constexpr std::chrono::seconds kLeastKept{1};
inline constexpr std::chrono::seconds kMostKept{3600};
inline constexpr std::chrono::seconds kNoSuchNameKept{5};
inline constexpr std::chrono::seconds kTroubleKept{1};
/// Serving stale (RFC 8767): while the servers are silent or in trouble, an expired answer stands
/// in for kStaleKept. A caller waits kStalePatience for a fresh answer, unless the last try failed.
/// The servers are asked again every kStaleRetry.
inline constexpr std::chrono::hours kStaleKept{24};
inline constexpr std::chrono::milliseconds kStalePatience{500};
inline constexpr std::chrono::seconds kStaleRetry{5};

/// Result of one look-up.
struct NameAnswer {
    enum class Kind {
        found,
        no_such_name,  // the servers report that it does not exist, or lacks an address
        silence,       // all servers are silent
        trouble,       // the servers report trouble
    };
    struct Service {  // an SRV record (RFC 2782)
        std::string host;
        std::uint16_t port = 0;
    };
    Kind kind = Kind::trouble;
    Addresses addresses;
    std::chrono::seconds ttl{0};
    std::vector<Service> services{};  // of ask_srv()
    /// The answer was too long for a packet, and no server gave it by TCP. If `found`, the records
    /// are those of the packet; otherwise the packet had none.
    bool truncated = false;
};

/// The names known to a resolver, and the decision to look one up. Function of (state, event, now).
class NameTable {
public:
    using Time = std::chrono::steady_clock::time_point;
    using KnownAddresses = Result<Addresses>;

    /// `most_kept`: longest lifetime of an answer, see kMostKept.
    explicit NameTable(std::chrono::nanoseconds most_kept = kMostKept) : most_kept_(most_kept) {}

    struct Decision {
        std::optional<KnownAddresses> answer;  // for the caller, at once
        bool look_up = false;                  // begin a look-up, and call answered() at its end
        std::optional<Addresses>
            stale;  // for the caller, if the look-up takes longer than kStalePatience
    };
    /// `client`: the client that needs the name; empty: this node.
    Decision ask(const std::string& name, std::string_view client, Time now);
    /// Returns the result for all callers that waited for this look-up.
    KnownAddresses answered(const std::string& name, NameAnswer answer, Time now);

    /// The next ask() of each name begins a look-up. What is known goes on standing in meanwhile.
    void expire(Time now);

    std::size_t size() const { return names_.size(); }

private:
    struct Name {
        Addresses addresses;  // last good answer, or empty
        Error error = Error::resolve_failed;
        Time fresh_until{}, stale_until{}, retry_at{};
        bool in_flight = false;
        bool in_trouble = false;  // the last try failed
        bool own = false;         // needed by this node itself
        std::string client;       // of the look-up in flight
        bool may_be_stale(Time now) const { return !addresses.empty() && now < stale_until; }
        KnownAddresses known() const;
    };
    bool may_look_up(std::string_view client) const;
    void make_room(Time now);

    std::chrono::nanoseconds most_kept_;
    std::unordered_map<std::string, Name> names_;
    std::size_t in_flight_ = 0, clients_in_flight_ = 0;
    std::unordered_map<std::string, std::size_t> in_flight_of_;  // by client
};

}  // namespace base
