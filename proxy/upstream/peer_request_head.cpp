#include "proxy/upstream/peer_request_head.hpp"

#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

void append_seconds(std::string& out, std::string_view name, std::chrono::seconds value) {
    out.append(", ").append(name).append("=").append(std::to_string(value.count()));
}

}  // namespace

PeerRequestHead::PeerRequestHead(const RequestSnapshot& request,
                                 const RequestDirectives& directives, const protocol::FieldKey& key,
                                 std::string selecting)
    : request_(request), directives_(directives) {
    if (const auto* const rule = request.policy().rule)
        for (const auto& name : rule->storing.key_fields) add_name(selecting, name);
    hashes_ = hashed_fields(request.fields, selecting, FieldHasher(key, request.key.uri()));
    for (const auto& line : request.fields)
        if (sent_in_clear(line)) append_line(clear_lines_, line);
}

std::string PeerRequestHead::text(std::string_view node, std::string_view token,
                                  std::optional<std::chrono::seconds> max_age,
                                  std::string_view extra_lines, std::string_view method) const {
    const auto& wanted = directives_.max_age;
    if (wanted && (!max_age || *wanted < *max_age)) max_age = wanted;
    std::string out;
    out.reserve(clear_lines_.size() + hashes_->size() + request_.key.uri().size() + 256);
    out.append(method).append(" ").append(request_.key.uri());
    out.append(" HTTP/1.1\r\nHost: ").append(request_.key.authority()).append("\r\n");
    out.append(clear_lines_).append(extra_lines).append("Cache-Control: only-if-cached");
    if (max_age) append_seconds(out, "max-age", *max_age);
    if (directives_.min_fresh) append_seconds(out, "min-fresh", *directives_.min_fresh);
    if (directives_.max_stale) append_seconds(out, "max-stale", *directives_.max_stale);
    out.append("\r\n").append(kPeerField).append(": ").append(node).append(" ").append(token);
    if (const auto mark = request_.policy().mark(); mark != 0) {
        out.append(kRuleOption);
        base::append_number(out, mark, 16);
    }
    if (!hashes_->empty()) out.append("\r\n").append(kFieldsField).append(": ").append(*hashes_);
    out.append("\r\nVia: 1.1 ").append(node).append("\r\n\r\n");
    return out;
}

}  // namespace proxy
