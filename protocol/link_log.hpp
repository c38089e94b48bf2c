#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
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

    /// `link`: "link to b", "link from b", "link from 10.0.0.7:4711".
    /// `expected`: happens where all is well, as a place that a name leads to may be this node
    /// itself, or not be there yet.
    void ended(std::string_view link, const boost::system::error_code& error,
               std::string_view detail, TimePoint now, bool expected = false);
    /// As ended(), of a link that never was.
    void failed(std::string_view link, const boost::system::error_code& error,
                std::string_view detail, TimePoint now, bool expected = false);
    void up(std::string_view link);
    /// Who is a peer has changed.
    void joined(std::string_view peer);
    void left(std::string_view peer);
    void in_sync(std::string_view peer, std::uint64_t objects, std::uint64_t bits, unsigned hashes);

    /// Reason -> how often.
    const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

private:
    struct Subject {
        TimePoint logged_at;
        std::uint64_t kept_back = 0;
    };

    void note(std::string_view link, std::string_view what, const boost::system::error_code& error,
              std::string_view detail, TimePoint now, bool expected);

    std::string node_;
    std::map<std::string, std::uint64_t> counts_;
    std::map<std::string, Subject> subjects_;
};

}  // namespace protocol
