#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

// What answers to questions for blocks, and for bodies in blocks, are taken for. Functions: no I/O,
// no clock.

/// What becomes of the origin's answer to a question for the block in which `part` begins, of a
/// body of which nothing was known.
enum class FirstBlock : std::uint8_t {
    index_and_block,  // both are stored, and what is missing follows block by block
    as_it_is,         // not to be stored, but the very answer
    not_in_parts,     // of no use: the client's range is asked for as it is
};
/// `index`: what can be stored of its head, if anything. `of_a_version`: the client's range is for
/// one version alone (If-Range), which this need not be.
FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index);
/// The blocks in which the client's range lies, to be asked of an origin of whose body nothing is
/// known: from the first byte of the first to the end of the last, or to that of the body.
struct Around {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last;
};
/// Precondition: the range says where it begins.
Around blocks_around(const RangeRequest& part, std::uint64_t block_bytes);
/// The same once it is known how long the body is; `part` begins within it.
ByteRange blocks_around(const RangeRequest& part, const Blocks& blocks);

/// What of the body an answer brings to a question for `wanted`, and maybe what follows it, if that
/// can be cut into blocks: from the block on, or the whole, of that version. `length`: of the
/// answer's own body, if known.
std::optional<ByteRange> run_of(const WantedBlock& wanted, const Head& head,
                                const std::optional<std::uint64_t>& length);
/// Why this is not the block that is wanted; `none`: it is.
FetchError judge_block(const WantedBlock& wanted, const Head& head, bool with_credentials);

/// Is this exactly the block that is wanted, of that version?
bool is_wanted(const WantedBlock& wanted, const Head& head);
/// The same of an answer of a peer, whose body of `length` bytes ends where the block does: else it
/// could not go on elsewhere.
bool is_given(const WantedBlock& wanted, const Head& head,
              const std::optional<std::uint64_t>& length);
/// Is this the part that was asked for, as far as the body reaches?
bool is_wanted(const RangeRequest& part, const ContentRange& given);

/// Is this the whole body of that version, in one piece? Then what stood in blocks can go on by it.
/// `etag`: strong.
bool is_whole_of(const StoredMetadata& response, std::string_view etag);

/// A peer's answer to a question for a target that it holds in blocks: 304, which never has a body,
/// and its Content-Length is that of the whole. The question had no condition, so that it means
/// nothing else. None when it says no length.
std::optional<std::uint64_t> length_of_head_alone(const Head& head);

}  // namespace proxy
