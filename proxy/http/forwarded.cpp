#include "proxy/http/forwarded.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

bool is_proto(const Field& line) {
    return iequals(line.name, kForwardedProto);
}
bool is_host(const Field& line) {
    return iequals(line.name, kForwardedHost);
}
bool is_for(const Field& line) {
    return iequals(line.name, kForwardedFor);
}

/// A parameter's value (RFC 7239 §4): quoted unless it is a token.
void append_value(std::string& out, std::string_view text) {
    if (is_token(text)) return void(out.append(text));
    out.push_back('"');
    for (const char c : text) {
        if (c == '"' || c == '\\') out.push_back('\\');
        out.push_back(c);
    }
    out.push_back('"');
}

/// A node (RFC 7239 §6): an IPv6 address in brackets and quotes.
void append_node(std::string& out, std::string_view address) {
    if (address.find(':') == std::string_view::npos) return void(out.append(address));
    out.append("\"[").append(address).append("]\"");
}

template <class Is>
void join(std::string& out, const std::vector<Field>& lines, Is is) {
    for (const auto& line : lines)
        if (is(line) && !line.value.empty()) out.append(line.value).append(", ");
}

/// Removes the next part from a Forwarded element, up to a semicolon outside quotes.
std::string_view take_pair(std::string_view& rest) {
    std::size_t end = 0;
    for (auto quoted = false; end < rest.size() && (quoted || rest[end] != ';'); ++end) {
        if (rest[end] == '"') quoted = !quoted;
        if (quoted && rest[end] == '\\' && end + 1 < rest.size()) ++end;
    }
    const auto pair = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return pair;
}

bool is_pair_of(std::string_view pair, std::string_view name) {
    const auto equals = pair.find('=');
    return equals != std::string_view::npos && iequals(trim(pair.substr(0, equals)), name);
}

std::string_view value_of(std::string_view pair) {
    auto value = trim(pair.substr(pair.find('=') + 1));
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"'))
        value = value.substr(1, value.size() - 2);
    return value;
}

bool has_open_quote(std::string_view element) {
    auto open = false;
    for (std::size_t i = 0; i < element.size(); ++i) {
        if (element[i] == '"') open = !open;
        if (open && element[i] == '\\') ++i;
    }
    return open;
}

/// Appends the elements of Forwarded except host and proto. Returns whether there were such.
bool append_without_target(std::string& out, const std::vector<Field>& lines) {
    auto had = false;
    FieldMembers elements(lines, field::forwarded);
    while (const auto element = elements.next()) {
        if (has_open_quote(*element)) {  // its parts are unknown
            had = true;
            continue;
        }
        const auto begin = out.size();
        for (auto rest = *element; !rest.empty();) {
            const auto pair = take_pair(rest);
            const auto of_target = is_pair_of(pair, "host") || is_pair_of(pair, "proto");
            had = had || of_target;
            if (pair.empty() || of_target) continue;
            out.append(out.size() > begin ? ";" : "").append(pair);
        }
        if (out.size() > begin) out.append(", ");
    }
    return had;
}

std::string_view first_member(std::string_view list) {
    return ListMembers(list).next().value_or(std::string_view());
}

std::optional<Scheme> stated_scheme(std::string_view text) {
    if (iequals(text, "https")) return Scheme::https;
    if (iequals(text, "http")) return Scheme::http;
    return std::nullopt;
}

/// Host and proto of the first elements of Forwarded that have them.
StatedTarget stated_by_forwarded(Fields request) {
    StatedTarget stated;
    FieldMembers elements(request, field::forwarded);
    while (const auto element = elements.next()) {
        for (auto rest = *element; !rest.empty();) {
            const auto pair = take_pair(rest);
            if (!stated.scheme && is_pair_of(pair, "proto"))
                stated.scheme = stated_scheme(value_of(pair));
            if (stated.host.empty() && is_pair_of(pair, "host")) stated.host = value_of(pair);
        }
    }
    return stated;
}

/// Appends the members of X-Forwarded-For as elements of Forwarded. Returns whether there are any.
bool append_chain(std::string& out, const std::vector<Field>& lines) {
    const auto begin = out.size();
    for (const auto& line : lines) {
        if (!is_for(line)) continue;
        for (auto rest = line.value; !rest.empty();) {
            const auto comma = std::min(rest.find(','), rest.size());
            const auto member = trim(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
            if (member.empty()) continue;
            out.append("for=");
            const auto is_ipv6 = std::count(member.begin(), member.end(), ':') > 1;
            if (is_ipv6 && member.front() != '[')
                append_node(out, member);
            else
                append_value(out, member);
            out.append(", ");
        }
    }
    return out.size() > begin;
}

}  // namespace

bool is_forwarded_field(const Field& line) {
    if (line.id != field::unknown) return line.id == field::forwarded;
    switch (line.name.size()) {  // the three names differ in length
        case kForwardedFor.size():
            return is_for(line);
        case kForwardedProto.size():
            return is_proto(line);
        case kForwardedHost.size():
            return is_host(line);
        default:
            return false;
    }
}

bool is_trace_of_proxy(field id, std::string_view name) {
    return id == field::via || id == field::forwarded ||
           (id == field::unknown && iequals(name, kForwardedFor));
}

bool came_through_a_proxy(Fields request) {
    return std::any_of(request.begin(), request.end(),
                       [](const Field& line) { return is_trace_of_proxy(line.id, line.name); });
}

StatedTarget stated_target(Fields request) {
    StatedTarget stated;
    auto speaks_x = false;
    for (const auto& line : request) {
        if (line.id != field::unknown || !is_forwarded_field(line)) continue;
        speaks_x = true;
        if (is_proto(line) && !stated.scheme)
            stated.scheme = stated_scheme(first_member(line.value));
        if (is_host(line) && stated.host.empty()) stated.host = first_member(line.value);
    }
    return speaks_x ? stated : stated_by_forwarded(request);
}

void ForwardedFields::write_for(const std::vector<Field>& came, const ForwardedHop& hop) {
    for_.clear();
    const auto keep = hop.trusted && hop.mode == ForwardedMode::append;
    if (keep) join(for_, came, is_for);
    for_.append(keep ? hop.sender : hop.client);
}

void ForwardedFields::write_forwarded(const std::vector<Field>& came, const ForwardedHop& hop) {
    forwarded_.clear();
    const auto keep = hop.trusted && hop.mode == ForwardedMode::append;
    // X-Forwarded-For takes precedence: a proxy that writes only X-Forwarded-For forwards a
    // Forwarded that the client itself may have written.
    const auto chain = keep && append_chain(forwarded_, came);
    if (keep && !chain) append_without_target(forwarded_, came);
    forwarded_.append("for=");
    append_node(forwarded_, keep ? hop.sender : hop.client);
    forwarded_.append(";host=");
    append_value(forwarded_, hop.host);
    forwarded_.append(hop.scheme == Scheme::https ? ";proto=https" : ";proto=http");
}

/// For `off`: returns whether forwarded_ replaces the received fields.
bool ForwardedFields::leave_out_target(const std::vector<Field>& came) {
    forwarded_.clear();
    const auto had = append_without_target(forwarded_, came);
    if (had && !forwarded_.empty()) forwarded_.resize(forwarded_.size() - 2);
    return had;
}

void ForwardedFields::rewrite(std::vector<Field>& fields, const ForwardedHop& hop) {
    const auto on = hop.mode != ForwardedMode::off;
    const auto has_target = !on && leave_out_target(fields);
    if (on && !hop.sender.empty()) {
        write_for(fields, hop);
        write_forwarded(fields, hop);
    }
    // An origin may take `X_Forwarded_Host` for the field with hyphens.
    std::erase_if(fields, [&](const Field& line) {
        if (line.id == field::forwarded) return on || has_target;
        if (line.id != field::unknown) return false;
        switch (line.name.size()) {
            case kForwardedFor.size():
                return on && same_variable(line.name, kForwardedFor);
            case kForwardedProto.size():
                return same_variable(line.name, kForwardedProto);
            case kForwardedHost.size():
                return same_variable(line.name, kForwardedHost);
            default:
                return false;
        }
    });
    if (on || hop.stated.scheme || hop.scheme == Scheme::https)
        fields.push_back({field::unknown, kForwardedProto, to_string(hop.scheme)});
    if (on || hop.stated.host) fields.push_back({field::unknown, kForwardedHost, hop.host});
    if (has_target && !forwarded_.empty())
        fields.push_back({field::forwarded, "Forwarded", forwarded_});
    if (!on || hop.sender.empty()) return;
    fields.push_back({field::unknown, kForwardedFor, for_});
    fields.push_back({field::forwarded, "Forwarded", forwarded_});
}

}  // namespace proxy
