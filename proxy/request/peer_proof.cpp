#include "proxy/request/peer_proof.hpp"

#include <charconv>
#include <string_view>

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"

namespace proxy {
namespace {

bool take_last_word(std::string_view& words, std::string_view word) {
    const auto is_last = words.ends_with(word);
    if (is_last) words.remove_suffix(word.size());
    return is_last;
}

/// 0 if the words do not end in a mark.
std::uint32_t take_rule_mark(std::string_view& words) {
    const auto at = words.rfind(kRuleOption);
    if (at == std::string_view::npos) return 0;
    const auto digits = words.substr(at + kRuleOption.size());
    std::uint32_t mark = 0;
    const auto* const end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, mark, 16).ptr != end) return 0;
    words.remove_suffix(words.size() - at);
    return mark;
}

}  // namespace

std::optional<ProvenPeer> proven_peer(const Transaction& transaction) {
    const auto& view = transaction.service.upstream.peers.view();
    if (!view || transaction.request.scheme != Scheme::http) return std::nullopt;
    const auto& cluster = transaction.request.config().cluster;
    if (!transaction.connection.encrypted() && !(cluster && cluster->takes_clear()))
        return std::nullopt;
    const auto* proof = find(transaction.request.head.fields, kPeerField);
    if (proof == nullptr) return std::nullopt;
    ProvenPeer peer;
    auto words = proof->value;
    peer.options.rule_mark = take_rule_mark(words);
    peer.options.part = take_last_word(words, " part");
    peer.options.stand_in = take_last_word(words, " stand-in");
    peer.options.stale_too = take_last_word(words, " stale");
    const auto space = words.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto index = view->authenticate(words.substr(0, space), words.substr(space + 1));
    if (!index) return std::nullopt;
    peer.index = *index;
    return peer;
}

}  // namespace proxy
