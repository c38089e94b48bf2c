#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// What is amiss with the answer to a request for a part of a body of which another part has come.
enum class PartTrouble : std::uint8_t {
    none,
    other_version,  // two servers with tags of their own, or a tag for each answer
    refused,        // 401, 403, 404, 410 or 429: it may be had once, for a while, or not so often
    not_a_part,     // anything else but an error that may pass
};
/// `wrong`: why the answer is not what was asked for.
PartTrouble part_trouble(FetchError wrong, unsigned status);
/// A part of a sentence.
std::string_view to_string(PartTrouble trouble);

/// Origins whose bodies are not to be had in parts, by what their answers were, each for a while:
/// place and folder of the URL. Its bodies then come in one answer each. The one that was noted
/// longest ago goes first. No clock; one worker's own experience, one thread.
class PartAnswers {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::minutes kRemembered{10};
    static constexpr std::size_t kMost = 1024;
    static constexpr std::size_t kLongestFolder = 1024;  // bytes; what is longer is cut

    /// `trouble` is one. Of another version it takes two: one may be a new one. True if its bodies
    /// are in one piece from now on, and were not before.
    bool note(std::string_view place, std::string_view uri, PartTrouble trouble, Time now);
    bool in_one_piece(std::string_view place, std::string_view uri, Time now) const;
    std::size_t size() const { return noted_.size(); }

private:
    struct Noted {
        std::string name;
        Time until;
        bool sure = false;
    };
    static std::string name_of(std::string_view place, std::string_view uri);

    std::list<Noted> noted_;  // the latest in front
    std::unordered_map<std::string, std::list<Noted>::iterator> by_name_;
};

}  // namespace proxy
