#include "proxy/tls/pem_fault.hpp"

#include <openssl/err.h>

#include <cstddef>
#include <fstream>
#include <string_view>

#include "base/tls/new_tls_context.hpp"

namespace proxy {
namespace {

constexpr std::size_t kLookedAt = 256 << 10;  // bytes of the file; a chain has a few KiB
constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr char kDerSequence = 0x30;  // the first byte of a certificate or key in DER

std::string beginning_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes(kLookedAt, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

/// The label of the first block, such as `RSA PRIVATE KEY`; empty without one.
std::string_view first_label(std::string_view bytes) {
    const auto begin = bytes.find(kPemBegin);
    if (begin == std::string_view::npos) return {};
    const auto rest = bytes.substr(begin + kPemBegin.size());
    const auto end = rest.substr(0, 64).find("-----");
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

std::string pem_fault(const std::string& file, PemBlock wanted) {
    if (ERR_SYSTEM_ERROR(ERR_peek_error()))
        return "cannot read " + file + ": " + base::tls_reason();
    const auto is_key = wanted == PemBlock::key;
    const auto bytes = beginning_of(file);
    const std::string_view label = is_key ? "PRIVATE KEY" : "CERTIFICATE";
    const auto has = [&](std::string_view what) {
        for (auto at = bytes.find(kPemBegin); at != std::string::npos;
             at = bytes.find(kPemBegin, at + 1))
            if (first_label(std::string_view(bytes).substr(at)).ends_with(what)) return true;
        return false;
    };
    if (has(label))
        return "cannot use the " + std::string(is_key ? "private key" : "certificate") + " in " +
               file + ": OpenSSL says \"" + base::tls_reason() + "\"";
    const auto begins =
        "a text that begins with " + std::string(kPemBegin) + std::string(label) + "-----";
    const auto found = first_label(bytes);
    if (!found.empty())
        return file + " has " + std::string(found) + " in place of " + std::string(label) +
               ": it needs " + begins;
    const auto missing =
        file + " has no " + (is_key ? "private key" : "certificate") + " in PEM, " + begins;
    if (bytes.empty() || bytes.front() != kDerSequence) return missing;
    return missing + "; it seems to be in DER: openssl " + (is_key ? "pkey" : "x509") +
           " -inform DER -in " + file + " -out FILE converts it";
}

}  // namespace proxy
