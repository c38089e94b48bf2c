#include "proxy/tls/new_authority.hpp"

#include <openssl/pem.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <memory>
#include <stdexcept>

#include "proxy/blocklists/normal_url.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/tls/certificate_builder.hpp"
#include "proxy/tls/leaf_certificate.hpp"

namespace proxy {
namespace {

template <class Write>
std::string pem_of(const Write& write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    if (!out || write(out.get()) != 1) throw std::runtime_error("cannot write PEM");
    char* text = nullptr;
    const auto size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

bool is_ip_literal(const std::string& text) {
    boost::system::error_code is_no_address;
    boost::asio::ip::make_address(text, is_no_address);
    return !is_no_address;
}

/// What is wrong with a host that is no name, and what to write.
std::string why_no_host(const std::string& host, std::string_view name) {
    const auto quoted = '"' + host + "\" ";
    if (is_ip_literal(std::string(name)))
        return quoted + "is an address: the CA can sign for names alone";
    if (host.find('/') != std::string::npos)
        return quoted + "is a URL or a path: give its host alone, such as pypi.org";
    if (host.find(':') != std::string::npos)
        return quoted + "has a port: give the name alone, which is for all ports";
    if (host.find('*') != std::string::npos)
        return quoted +
               "has a star inside: .example.org or *.example.org is for all names below "
               "example.org";
    return quoted + "is no host name: pypi.org and .crates.io are";
}

}  // namespace

std::vector<std::string> permitted_names(const std::vector<std::string>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts) {
        std::string lower;
        append_lower(lower, host);
        std::string_view name(lower);
        if (name.ends_with('.')) name.remove_suffix(1);
        if (name.starts_with("*.")) name.remove_prefix(1);
        if (name.starts_with('.')) name.remove_prefix(1);
        if (!is_name(name) || is_ip_literal(std::string(name)))
            throw std::invalid_argument(why_no_host(host, name));
        if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    }
    if (names.empty())
        throw std::invalid_argument("a CA needs a host that it may sign for, such as pypi.org");
    return names;
}

NewAuthority make_authority(const AuthorityOrder& order, std::chrono::sys_seconds now) {
    NewAuthority made;
    made.permitted = permitted_names(order.hosts);
    made.not_after = now + order.days;
    const auto key = new_p256_key();
    CertificateBuilder builder(key.get(), now - kLeafBackdated, made.not_after);
    builder.name(order.name);
    builder.for_authority();
    builder.permit(made.permitted);
    const auto certificate = builder.sign(nullptr, key.get());
    made.certificate = pem_of([&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); });
    made.key = pem_of([&](BIO* out) {
        return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return made;
}

}  // namespace proxy
