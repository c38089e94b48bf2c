#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/memory/recent_map.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// The fault of a response to a request for a part of a body of which another part has come.
enum class PartTrouble : std::uint8_t {
    none,
    other_version,  // two servers with tags of their own, or a tag for each response
    refused,        // 401, 403, 404 or 410: for this request, or for a while
    not_a_part,     // any other response, except for errors that may pass
};
/// `wrong`: the reason why the response is not the requested part.
PartTrouble part_trouble(FetchError wrong, unsigned status);
/// A part of a sentence.
std::string_view to_string(PartTrouble trouble);

/// The origins and bodies that give no usable parts, learnt from their responses. For a while the
/// node requests bodies there in one piece. Two other versions concern the folder of the URL; any
/// other trouble concerns the one path. The oldest entry goes first. Reads no clock. Any thread.
class PartResponses {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::minutes kRemembered{10};
    static constexpr std::size_t kMost = 1024;
    static constexpr std::size_t kLongestPath = 1024;  // bytes; a longer one is cut

    /// `trouble` is not `none`. `etag`: of the response. Other versions count from the second one
    /// on, because the first may be a new version, however often it comes. Returns true when
    /// in_one_piece() has a new result.
    bool note(std::string_view place, std::string_view uri, PartTrouble trouble,
              std::string_view etag, Time now);
    bool in_one_piece(std::string_view place, std::string_view uri, Time now) const;
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

private:
    struct PartRecord {
        Time until;
        bool sure = false;
        std::uint64_t version = 0;  // hash of URI and tag of the last other version
    };
    static std::string name_of_folder(std::string_view place, std::string_view uri);
    static std::string name_of_path(std::string_view place, std::string_view uri);
    bool is_sure(const std::string& name, Time now) const;  // mutex held

    mutable std::mutex mutex_;
    std::atomic<std::size_t> size_{0};
    base::RecentMap<std::string, PartRecord> noted_;
};

}  // namespace proxy
