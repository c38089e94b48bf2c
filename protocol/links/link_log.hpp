#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace protocol {

inline constexpr auto kLogAgainAfter = std::chrono::seconds(10);
inline constexpr std::size_t kMaxLogSubjects = 4096;  // reasons beyond are counted only

/// Counts the reasons of ended and refused links, and logs them: the same trouble at most once in
/// kLogAgainAfter. Control thread only.
class LinkLog {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit LinkLog(std::string node) : node_(std::move(node)) {}

    /// Whether the absence of a link is expected. Expected absence is logged once at level
    /// info until the link is up again.
    enum class Expectation {
        none,     // the absence is trouble
        usual,    // a place behind a name may have no node yet
        lasting,  // the node at the place has left
    };

    /// `link`: "link to b", "link from b", "link from 10.0.0.7:4711".

    void ended(std::string_view link, const boost::system::error_code& error,
               std::string_view detail, TimePoint now, Expectation expected = Expectation::none);
    /// See ended(), for a link that could not be made.
    void failed(std::string_view link, const boost::system::error_code& error,
                std::string_view detail, TimePoint now, Expectation expected = Expectation::none);
    /// Logs a link whose other end left before its proof, as a check of peers does
    /// (links/check_link.hpp). `who`: the name that it gave.
    void left_unproven(std::string_view link, std::string_view who,
                       const boost::system::error_code& error, TimePoint now);
    void up(std::string_view link);
    /// Log the arrival and the departure of a peer.
    void joined(std::string_view peer);
    void left(std::string_view peer);
    /// Logs trouble with a peer whose links stand, and its later state.
    void trouble(std::string_view peer, std::string_view state, std::string_view cause);
    void trouble_over(std::string_view peer, std::string_view state);
    /// Logs once for each place that this node itself answers there.
    void met_self(std::string_view place);
    void in_sync(std::string_view peer, std::uint64_t objects, std::uint64_t bits, unsigned hashes);

    /// How often each reason came.
    const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

private:
    struct Subject {
        TimePoint logged_at;
        std::uint64_t kept_back = 0;
        bool was_expected = false;  // when it was logged
    };

    void note(std::string_view link, std::string_view what, const boost::system::error_code& error,
              std::string_view detail, TimePoint now, Expectation expected);

    std::string node_;
    std::map<std::string, std::uint64_t> counts_;
    std::map<std::string, Subject, std::less<>> subjects_;  // link and reason
};

}  // namespace protocol
