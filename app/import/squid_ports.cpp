#include "app/import/squid_ports.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace app {
namespace {

/// A port of Squid in the form of `listen`. Nothing for a text without a port.
std::optional<std::string> listen_text(std::string_view word) {
    const auto colon = word.rfind(':');
    const auto port = colon == std::string_view::npos ? word : word.substr(colon + 1);
    unsigned number = 0;
    const auto* const end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data(), end, number);
    if (error != std::errc() || stop != end || number == 0 || number > 65535) return std::nullopt;
    if (colon == std::string_view::npos) return "0.0.0.0:" + std::to_string(number);
    if (!word.starts_with('[') && word.find(':') != colon) return std::nullopt;
    return std::string(word);
}

void read_tls_ports(const std::vector<const Directive*>& https, bool forwards, SquidPorts& out,
                    ImportDraft& draft) {
    for (const auto* line : https) {
        const auto is_intercepted = std::any_of(
            line->words.begin(), line->words.end(),
            [](const Word& word) { return word.text == "intercept" || word.text == "tproxy"; });
        const auto where = is_intercepted ? std::nullopt : listen_text(line->word(0));
        std::string certificate, key;
        bool accelerates = false;
        for (const auto& word : line->words) {
            const auto value = [&](std::string_view name, std::string& to) {
                if (word.text.starts_with(name)) to = word.text.substr(name.size());
            };
            value("cert=", certificate);
            value("tls-cert=", certificate);
            value("key=", key);
            value("tls-key=", key);
            if (word.text == "accel" || word.text.starts_with("defaultsite")) accelerates = true;
            if (word.text.starts_with("defaultsite=")) out.default_site = word.text.substr(12);
            if (word.text.starts_with("clientca=") || word.text.starts_with("tls-clientca=")) {
                draft.warn(*line,
                           "hearsay asks clients for no certificate. Closed: the node lets no "
                           "client in");
                out.asks_for_certificates = true;
            }
        }
        if (!where || certificate.empty() || draft.has("tls") || (accelerates && forwards)) {
            draft.leave_out(*line,
                            "tls.listen needs a port and a certificate, and is for the "
                            "same sites as `listen`");
            continue;
        }
        out.accelerates = out.accelerates || accelerates;
        draft.set("tls.listen", *where);
        draft.set("tls.certificate", certificate);
        draft.set("tls.key", key.empty() ? certificate : key);
    }
}

}  // namespace

SquidPorts read_squid_ports(const std::vector<const Directive*>& http,
                            const std::vector<const Directive*>& https, ImportDraft& draft) {
    SquidPorts out;
    bool forwards = false;
    for (const auto* line : http) {
        const auto where = listen_text(line->word(0));
        const auto has = [&](std::string_view option) {
            return std::any_of(line->words.begin(), line->words.end(), [&](const Word& word) {
                return word.text == option ||
                       (word.text.starts_with(option) && word.text.substr(option.size(), 1) == "=");
            });
        };
        if (has("intercept") || has("tproxy") || has("transparent")) {
            draft.leave_out(*line,
                            "hearsay does not take intercepted connections; let clients "
                            "name the proxy (PAC, environment)");
            continue;
        }
        if (has("ssl-bump"))
            draft.leave_out(*line,
                            "hearsay opens no TLS of CONNECT; list https sites in "
                            "`origins`");
        if (!where) {
            draft.leave_out(*line, "is no port");
            continue;
        }
        const bool accelerates = has("accel") || has("vhost") || has("defaultsite") || has("vport");
        if (draft.has("listen")) {
            draft.leave_out(*line, "a node has one `listen`; the first http_port counts");
            continue;
        }
        draft.set("listen", *where);
        out.accelerates = accelerates;
        forwards = !accelerates;
        for (const auto& word : line->words)
            if (word.text.starts_with("defaultsite=")) out.default_site = word.text.substr(12);
    }
    read_tls_ports(https, forwards, out, draft);
    if (!draft.has("listen")) {
        draft.set("listen", "127.0.0.1:3128");
        draft.warn(
            "no http_port can be taken over. Closed: the node listens at 127.0.0.1:3128 "
            "alone");
    }
    return out;
}

}  // namespace app
