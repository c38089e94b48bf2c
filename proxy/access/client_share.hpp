#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/access/accounts.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

class PasswordFile;

/// Why a limit refuses a request, if so.
enum class OverLimit : std::uint8_t { none, rate, connections };

/// One request's part in the accounts of its client and of its user, from its admission to its end.
/// Its limits are those of the admission, whatever is reloaded meanwhile. One thread; accounts are
/// shared.
class ClientShare {
public:
    using Time = TokenBucket::Time;

    /// A verified name of a user; empty without one.
    std::string user = {};
    /// The file in which `user` had the password that it gave. Null: it gave none.
    std::shared_ptr<const PasswordFile> proven_by = {};

    struct Entered {
        OverLimit over = OverLimit::none;
        Time again_at{};  // from which the limit has room; of `connections` a guess
    };
    /// Counts the request in an account, unless a limit refuses it.
    Entered enter(const std::shared_ptr<Account>& account, const ClientAllowance& limits, Time now);
    /// Counts in no account from here on, because others count what comes next.
    void leave();

    /// Bytes of a body may go out from this time on; `now` or earlier: at once.
    Time ready_at(Time now) const;
    bool has_to_wait(Time now) const { return ready_at(now) > now; }
    /// Counts bytes that went out.
    void sent(std::uint64_t bytes, Time now);
    /// The most bytes to send before the next look at ready_at(). All who share the bandwidth have
    /// their pieces within an eighth of a second, unless these would be too small.
    std::uint64_t piece() const;
    /// The time from one piece of a body to the next, by what others have taken and may take.
    std::chrono::nanoseconds time_to_turn(Time now) const;
    bool has_bandwidth() const { return !paced_.empty(); }

private:
    std::vector<AccountUse> uses_;
    std::vector<std::pair<Account*, BucketRate>> paced_;  // of uses_, with a limit of bandwidth
};

/// The tokens of a limit. Precondition: it is set.
BucketRate request_rate(const ClientAllowance& limits);
BucketRate byte_rate(const ClientAllowance& limits);

/// Retry-After for a time from now: whole seconds, at least 1.
std::uint64_t retry_after(TokenBucket::Time again_at, TokenBucket::Time now);

}  // namespace proxy
