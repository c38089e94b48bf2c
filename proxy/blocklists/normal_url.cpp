#include "proxy/blocklists/normal_url.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>

#include "base/net/embedded_v4.hpp"
#include "proxy/blocklists/punycode.hpp"
#include "proxy/http/escape.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

/// Appends the text with each valid `%xx` as its byte.
void append_unescaped(std::string& out, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = escaped_byte(text.substr(i));
        out.push_back(byte.value_or(text[i]));
        if (byte) i += 2;
    }
}

void lower(std::string& text, std::size_t from) {
    for (auto at = from; at < text.size(); ++at)
        if (text[at] >= 'A' && text[at] <= 'Z') text[at] = static_cast<char>(text[at] + 32);
}

enum ByteOfName : unsigned char { kOther, kOfName, kDigit };

/// The bytes of names in normal form.
constexpr std::array<unsigned char, 256> kNameBytes = [] {
    std::array<unsigned char, 256> table{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz-_."))
        table[static_cast<unsigned char>(c)] = kOfName;
    for (const char c : std::string_view("0123456789"))
        table[static_cast<unsigned char>(c)] = kDigit;
    return table;
}();

/// A host that is in normal form already, as nearly all are. A host that begins with a digit may be
/// an address, so it is none. No branch depends on the bytes behind the first, so that the compiler
/// looks at many of them at once.
bool is_plain(std::string_view host) {
    if (host.empty() || host.back() == '.') return false;
    if (kNameBytes[static_cast<unsigned char>(host.back())] != kOfName) return false;
    if (kNameBytes[static_cast<unsigned char>(host.front())] == kDigit) return false;
    unsigned char other = 0;
    for (const char c : host) {
        const auto byte = static_cast<unsigned char>(c);
        const auto from_a = static_cast<unsigned char>(byte - 'A');
        other |= static_cast<unsigned char>((byte == '%') | (from_a < 26) | (byte >> 7));
    }
    return other == 0;
}

NormalHost normal_address(const ip::address& address, std::string& buffer) {
    const auto is_mapped = address.is_v6() && address.to_v6().is_v4_mapped();
    auto plain =
        is_mapped ? ip::address(ip::make_address_v4(ip::v4_mapped, address.to_v6())) : address;
    buffer = plain.to_string();
    return {buffer, true};
}

/// IDNA has further characters for the dot (RFC 3490 §3.1).
void plain_dots(std::string& text) {
    for (const std::string_view dot : {"\xe3\x80\x82", "\xef\xbc\x8e", "\xef\xbd\xa1"})
        for (auto at = text.find(dot); at != std::string::npos; at = text.find(dot, at))
            text.replace(at, dot.size(), ".");
}

/// The labels of `text` in ASCII. A label that has no such form stays as it is.
void to_ascii(std::string& text) {
    plain_dots(text);
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        const auto label = rest.substr(0, rest.find('.'));
        const auto begin = out.size();
        if (!append_ascii_label(out, label)) {
            out.resize(begin);
            out.append(label);
        }
        if (label.size() < rest.size()) out.push_back('.');
        rest.remove_prefix(std::min(label.size() + 1, rest.size()));
    }
    text = std::move(out);
}

/// Removes the last segment, with its slash.
void remove_segment(std::string& path, std::size_t begin) {
    const auto slash = path.rfind('/');
    path.resize(slash == std::string::npos || slash < begin ? begin : slash);
}

}  // namespace

NormalHost normal_host(std::string_view host, std::string& buffer) {
    if (is_plain(host)) return {host, false};
    std::string text;
    append_unescaped(text, host);
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    while (text.ends_with('.')) text.pop_back();
    boost::system::error_code no_address;
    if (const auto address = ip::make_address(text, no_address); !no_address)
        return normal_address(address, buffer);
    in_addr number{};
    if (!text.empty() && kNameBytes[static_cast<unsigned char>(text.front())] == kDigit &&
        ::inet_aton(text.c_str(), &number) != 0)
        return normal_address(ip::address_v4(ntohl(number.s_addr)), buffer);
    const auto is_ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
    if (!is_ascii) to_ascii(text);
    lower(text, 0);
    while (text.ends_with('.')) text.pop_back();
    buffer = std::move(text);
    return {buffer, false};
}

std::vector<std::string> embedded_hosts(const NormalHost& host) {
    std::vector<std::string> texts;
    if (!host.is_address || host.text.find(':') == std::string_view::npos) return texts;
    for (const auto& inner : base::embedded_v4(ip::make_address(host.text)))
        texts.push_back(inner.to_string());
    return texts;
}

bool is_name(std::string_view host) {
    if (host.empty() || host.size() > kMaxNameBytes) return false;
    std::size_t label = 0;
    for (const char c : host) {
        if (c == '.') {
            if (label == 0) return false;
            label = 0;
        } else if (kNameBytes[static_cast<unsigned char>(c)] == kOther || ++label > 63) {
            return false;
        }
    }
    return label > 0;
}

unsigned labels_of_plain_name(std::string_view host) {
    if (host.empty() || host.size() > kMaxNameBytes) return 0;
    unsigned labels = 1;
    std::size_t label = 0;
    for (const char c : host) {
        if (c == '.') {
            if (label == 0) return 0;
            label = 0;
            ++labels;
        } else if (kNameBytes[static_cast<unsigned char>(c)] == kOther || ++label > 63) {
            return 0;
        }
    }
    const auto may_be_address = kNameBytes[static_cast<unsigned char>(host.back())] == kDigit;
    return label == 0 || may_be_address ? 0 : labels;
}

void append_normal_path(std::string& out, std::string_view path) {
    path = path.substr(0, path.find('#'));
    const auto begin = out.size();
    const auto query = path.find('?');
    std::string text;
    append_unescaped(text, path.substr(0, query));
    for (std::string_view rest = text; !rest.empty();) {
        if (rest.front() == '/') {
            rest.remove_prefix(1);
            continue;
        }
        const auto segment = rest.substr(0, rest.find('/'));
        rest.remove_prefix(segment.size());
        if (segment == "..")
            remove_segment(out, begin);
        else if (segment != ".")
            out.append("/").append(segment);
    }
    if (query != std::string_view::npos) {
        if (out.size() == begin) out.push_back('/');
        append_unescaped(out, path.substr(query));
    }
    while (out.size() > begin && out.back() == '/') out.pop_back();
    lower(out, begin);
}

}  // namespace proxy
