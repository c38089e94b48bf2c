#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/fetch/fetch_job.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

// The meaning of responses to requests for blocks, and for bodies in blocks. Functions: no I/O, no
// clock.

/// The use of the origin's response to a request for the block in which `part` begins, of an
/// unknown body.
enum class FirstBlock : std::uint8_t {
    index_and_block,  // the store takes both, and missing blocks follow one by one
    as_it_is,         // not for the store, but the exact response
    not_in_parts,     // useless: the client's range goes to the origin as it is
};
/// `index`: the part of its head that can be stored, if any. `of_a_version`: the client's range is
/// for one version alone (If-Range), perhaps another one.
FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index);
/// The blocks in which the client's range lies, for a request to an origin with an unknown body:
/// from the first byte of the first to the end of the last, or of the body.
struct BlockRange {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last;
};
/// Precondition: the range states its first byte.
BlockRange blocks_around(const RangeRequest& part, std::uint64_t block_bytes);
/// The same once the length of the body is known; `part` begins within it.
ByteRange blocks_around(const RangeRequest& part, const Blocks& blocks);

/// The part of the body that a response to a request for `wanted` brings, if it can be cut into
/// blocks: from the block on, or the whole, of that version. `length`: of the response's own body,
/// if known.
std::optional<ByteRange> run_of(const WantedBlock& wanted, const Head& head,
                                const std::optional<std::uint64_t>& length);
/// The reason why the response is not the wanted block; `none`: it is.
FetchError judge_block(const WantedBlock& wanted, const Head& head, bool with_credentials);

/// True for exactly the wanted block of that version.
bool is_wanted(const WantedBlock& wanted, const Head& head);
/// The same for a peer's response. Its body of `length` bytes must end where the block does, or it
/// could not go on elsewhere.
bool is_given(const WantedBlock& wanted, const Head& head,
              const std::optional<std::uint64_t>& length);
/// True for the requested part, as far as the body reaches.
bool is_wanted(const RangeRequest& part, const ContentRange& given);

/// True for the whole body with the strong tag and the source of that version, in one piece. A body
/// in blocks can go on by it.
bool is_whole_of(const StoredMetadata& response, const BodyVersion& version);

/// The length of a body that a peer has in blocks, from its response: a 304 without a body, whose
/// Content-Length is that of the whole. The peer request had no condition, so the 304 has only this
/// meaning. None without a length.
std::optional<std::uint64_t> length_of_head_alone(const Head& head);

}  // namespace proxy
