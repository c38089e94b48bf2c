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
inline constexpr std::size_t kMaxLogSubjects = 4096;  // more are counted, not logged

/// Why links end or are refused: counted by reason, and logged, the same trouble at most once in
/// kLogAgainAfter. Control thread only.
class LinkLog {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit LinkLog(std::string node) : node_(std::move(node)) {}

    /// Whether it is to be expected that there is no such link. Then it is told once, as news and
    /// not as trouble, until the link is up again.
    enum class Expectation {
        none,     // it is trouble
        usual,    // nobody may be there yet, where a name leads to
        lasting,  // whoever is there has left
    };

    /// `link`: "link to b", "link from b", "link from 10.0.0.7:4711".

    void ended(std::string_view link, const boost::system::error_code& error,
               std::string_view detail, TimePoint now, Expectation expected = Expectation::none);
    /// As ended(), of a link that never was.
    void failed(std::string_view link, const boost::system::error_code& error,
                std::string_view detail, TimePoint now, Expectation expected = Expectation::none);
    void up(std::string_view link);
    /// Who is a peer has changed.
    void joined(std::string_view peer);
    void left(std::string_view peer);
    /// A peer to and from which links are as they are, and with which something is wrong all the
    /// same; and it has another state now.
    void trouble(std::string_view peer, std::string_view state, std::string_view cause);
    void trouble_over(std::string_view peer, std::string_view state);
    /// This node itself is at a place that a name leads to; logged once for each place.
    void met_self(std::string_view place);
    void in_sync(std::string_view peer, std::uint64_t objects, std::uint64_t bits, unsigned hashes);

    /// Reason -> how often.
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
