#include "proxy/request/request.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/memory/kept_memory.hpp"
#include "proxy/http/connection_login.hpp"
#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {

using boost::beast::http::verb;

void Request::begin(const std::shared_ptr<const LoadedConfig>& in_effect,
                    const boost::asio::ip::address& remote) {
    // All workers share the count of owners: an unchanged configuration leaves it alone.
    if (settings != in_effect) {
        settings = in_effect;
        requester.settle(config(), remote, !inside);
        inside.settle(config().forward);
    }
    requester.begin();
    head.verb = verb::unknown;
    head.version = 11;
    head.target = head.method = {};
    head.fields.clear();
    key.clear();
    site = {};
    from_peer = false;
    for_origin_.begin();
    trace_.begin();
}

bool Request::take_own_upstream() {
    if (head.version >= 20) return false;
    auto& own = own_upstream;
    const auto is_of_another = own.client != requester.text();
    const auto is_replaced = own.origin != key.origin() && logs_connection_in(head.fields);
    if (is_of_another || is_replaced) own.connection.reset();
    if (own.connection && !has_own_upstream()) return false;
    own.client = requester.text();
    own.origin = key.origin();
    return true;
}

bool Request::is_logged_in() const {
    const auto& own = own_upstream.connection;
    return (own && own->login == ConnectionLogin::done && has_own_upstream()) ||
           logs_connection_in(head.fields);
}

void Request::rewrite_forwarded() {
    if (for_origin_.is_written()) return;
    ForwardedHop hop;
    hop.mode = site.of_entry() ? config().forwarded.origins : config().forwarded.forward;
    hop.stated = for_origin_.stated();
    if (!from_peer) {
        hop.trusted = requester.through_trusted_proxy();
        const auto may_be_stored = head.verb == verb::get || head.verb == verb::head;
        if (site.of_entry() && may_be_stored) drop_overrides();
        hop.sender = requester.hop_text();
        hop.client = requester.text();
    }
    hop.scheme = key.scheme();
    hop.host = key.authority();
    if (const auto* const mirror = site.policy.mirror) {
        // The origin knows nothing of its name here, and should make no links with it.
        hop.mode = config().forwarded.forward;
        hop.stated = {};
        hop.scheme = mirror->origin.scheme;
        hop.host = mirror->origin.authority;
    }
    for_origin_.write(head.fields, hop);
    if (!from_peer && site.policy.mirror)
        for_origin_.write_for_mirror(head.fields, *config().mirrors, *site.policy.mirror);
    if (!from_peer && site.policy.rule) edit_fields(site.policy.rule->request_fields);
}

/// Changes the fields of a client's request as a rule says, before a variant is selected: an origin
/// chooses by the changed fields. A peer's request has been changed by the peer.
void Request::edit_fields(const FieldEdits& edits) {
    if (edits.empty()) return;
    std::erase_if(head.fields, [&](const Field& line) { return edits.takes_away(line.name); });
    const auto takes_credentials = goes_where_credentials_go();
    edits.each_new([&](const std::string& name, const std::string& value) {
        if (takes_credentials || !may_be_credential(name))
            head.fields.push_back({boost::beast::http::string_to_field(name), name, value});
    });
}

/// A rule names hosts. The entry of `origins` adds scheme and port; of a forward target, whose URL
/// a client chooses, they are those that the host's own name stands for: https and 443.
bool Request::goes_where_credentials_go() const {
    return site.of_entry() ||
           (key.scheme() == Scheme::https && key.port() == default_port(Scheme::https));
}

/// An origin may take these fields for another target than the key's, also when they are spelled
/// with underscores. A trusted proxy is no proof
/// of them, because proxies pass on fields that they do not know.
void Request::drop_overrides() {
    const auto& names = config().forwarded.drop;
    // A bit for each length modulo 64. The names of most fields have another length.
    const auto bit_of = [](std::string_view name) { return std::uint64_t{1} << name.size() % 64; };
    std::uint64_t lengths = 0;
    for (const std::string_view name : names) lengths |= bit_of(name);
    std::erase_if(head.fields, [&](const Field& line) {
        return (lengths & bit_of(line.name)) != 0 &&
               std::ranges::any_of(
                   names, [&](const std::string& name) { return same_variable(line.name, name); });
    });
}

std::size_t Request::kept_bytes() const {
    return key.kept_bytes() + for_origin_.kept_bytes() + base::kept_bytes(head.fields) +
           trace_.kept_bytes();
}

void Request::give_back() {
    head.method = head.target = head.reason = {};
    base::give_back(head.fields);
    trace_.give_back();
    for_origin_.give_back();
    key.give_back();
}

}  // namespace proxy
