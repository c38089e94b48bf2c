#include "proxy/request/head_for_origin.hpp"

#include <utility>

#include "proxy/http/credentials.hpp"
#include "proxy/rewrite/head_rewrite.hpp"
#include "proxy/rewrite/request_rewrite.hpp"

namespace proxy {
namespace {

/// An origin whose links are rewritten is asked for codings that the node can undo.
void ask_for_known_coding(std::vector<Field>& head, const Mirror& mirror) {
    if (!mirror.links) return;
    const auto coding = coding_for_origin(head);
    if (!coding) return;
    auto is_first = true;
    std::erase_if(head, [&](Field& line) {
        if (line.id != boost::beast::http::field::accept_encoding) return false;
        line.value = *coding;
        return !std::exchange(is_first, false);
    });
}

}  // namespace

void HeadForOrigin::write_for_mirror(std::vector<Field>& head, const MirrorTable& all,
                                     const Mirror& mirror) {
    is_authorized_ = credential_fields(head) != 0;
    ask_for_known_coding(head, mirror);
    mirrored_ = std::make_unique<std::deque<std::string>>();
    rewrite_request(all, mirror, head, *mirrored_);
}

bool HeadForOrigin::has_own_credential(Fields head) const {
    return is_written_ ? is_authorized_ : credential_fields(head) != 0;
}

}  // namespace proxy
