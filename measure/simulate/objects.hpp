#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/trace/trace.hpp"
#include "summary/sizing/key.hpp"
#include "summary/sizing/kind.hpp"

namespace measure {

/// Size of the head of a response in a proxy's store, measured with the built-in origin's.
inline constexpr std::uint64_t kStoredHeadBytes = 245;

/// The objects of a trace by their index, with all properties that a simulation needs, computed
/// once. Memory: 56 bytes for each object, and its URI. Views are valid as long as this object.
class Objects {
public:
    struct Options {
        std::uint64_t unknown_bytes = 8192;
        bool unit_objects = false;
        summary::Kind kind = summary::kDefaultKind;
        std::uint64_t seed = 1;  // of the cluster's hash
    };
    Objects(const Trace& trace, const Options& options);

    std::size_t size() const { return charged_.size(); }
    /// Bytes of the body.
    std::uint64_t bytes(std::uint32_t object) const { return bytes_[object]; }
    /// Bytes that a store charges for the object.
    std::uint64_t charged(std::uint32_t object) const { return charged_[object]; }

    summary::Key key(std::uint32_t object) const { return {hashes_[object], uri(object)}; }
    summary::KeyHash hash(std::uint32_t object) const { return hashes_[object]; }
    /// The entry for a summary of the chosen kind.
    summary::KeyHash entry(std::uint32_t object) const { return entries_[object]; }
    std::string_view uri(std::uint32_t object) const {
        return std::string_view(text_).substr(ends_[object], ends_[object + 1] - ends_[object]);
    }

private:
    std::vector<std::uint64_t> bytes_, charged_;
    std::vector<summary::KeyHash> hashes_, entries_;
    std::string text_;                 // the URIs, one behind the other
    std::vector<std::uint64_t> ends_;  // end of the URI before
};

}  // namespace measure
