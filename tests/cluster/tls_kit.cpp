#include "tests/cluster/tls_kit.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace proxy::test {
namespace {

constexpr unsigned char kHttp1[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr unsigned char kOffered[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

void check(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()), X509_EXTENSION_free);
    check(extension != nullptr, "extension");
    X509_add_ext(certificate, extension.get(), -1);
}

template <class Write>
void write_file(const std::filesystem::path& path, Write&& write) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               std::fclose);
    check(file && write(file.get()) == 1, "write PEM");
}

/// A write to a connection that was reset must not end the program. The nodes under test run on
/// other threads, and have to see to that themselves.
void block_sigpipe() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Certificates::Certificates() {
    auto pattern = (std::filesystem::temp_directory_path() / "hearsay_tls_XXXXXX").string();
    check(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
    directory_ = pattern;
    authority_ = make("tests", "", nullptr, -2, 2);
    ca_ = write(authority_);
    strange_ = write(make("strangers", "", nullptr, -2, 2));
}

Certificates::~Certificates() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

Certificates::Files Certificates::issue(const std::string& names, int days_from, int days_to,
                                        KeyType type) {
    return write(make("server", names, &authority_, days_from, days_to, type));
}

Certificates::Pair Certificates::make(const std::string& subject, const std::string& names,
                                      const Pair* issuer, int days_from, int days_to,
                                      KeyType type) {
    constexpr unsigned kRsaBits = 2048;
    Pair pair;
    pair.key.reset(type == KeyType::rsa ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen("P-256"),
                   EVP_PKEY_free);
    pair.certificate.reset(X509_new(), X509_free);
    auto* const certificate = pair.certificate.get();
    check(pair.key && certificate, "key");
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++made_);
    constexpr long kDay = 24 * 60 * 60;
    X509_gmtime_adj(X509_getm_notBefore(certificate), days_from * kDay);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days_to * kDay);
    X509_set_pubkey(certificate, pair.key.get());
    auto* const name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    auto* const by = issuer ? issuer->certificate.get() : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(by));
    add_extension(certificate, by, NID_basic_constraints,
                  issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (!names.empty()) add_extension(certificate, by, NID_subject_alt_name, names);
    check(X509_sign(certificate, (issuer ? issuer->key : pair.key).get(), EVP_sha256()) > 0,
          "sign");
    return pair;
}

Certificates::Files Certificates::write(const Pair& pair) {
    const auto base = directory_ / std::to_string(made_);
    Files files{base.string() + ".crt", base.string() + ".key"};
    write_file(files.certificate,
               [&](std::FILE* file) { return PEM_write_X509(file, pair.certificate.get()); });
    write_file(files.key, [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, pair.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return files;
}

std::string Certificates::encrypted(const std::string& key) const {
    const std::shared_ptr<BIO> in(BIO_new_file(key.c_str(), "r"), BIO_free);
    const std::shared_ptr<EVP_PKEY> plain(
        PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    const unsigned char passphrase[] = {'p', 'a', 's', 's'};
    write_file(key + ".encrypted", [&](std::FILE* file) {
        return PEM_write_PKCS8PrivateKey(file, plain.get(), EVP_aes_256_cbc(),
                                         reinterpret_cast<const char*>(passphrase),
                                         sizeof passphrase, nullptr, nullptr);
    });
    return key + ".encrypted";
}

TlsEnd::TlsEnd(SSL_CTX* context, Socket connected, bool server, const std::string& name)
    : socket(std::move(connected)), ssl_(SSL_new(context), SSL_free) {
    SSL_set_fd(ssl_.get(), socket.descriptor());
    if (!name.empty()) {
        SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
        SSL_set1_host(ssl_.get(), name.c_str());
    }
    ERR_clear_error();
    open_ = (server ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) == 1;
}

bool TlsEnd::send(std::string_view data) {
    ERR_clear_error();
    return data.empty() || SSL_write(ssl_.get(), data.data(), static_cast<int>(data.size())) > 0;
}

bool TlsEnd::receive(std::string& into) {
    char piece[16384];
    ERR_clear_error();
    const auto got = SSL_read(ssl_.get(), piece, sizeof piece);
    if (got > 0) into.append(piece, static_cast<std::size_t>(got));
    if (got <= 0) told_ = SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
    return got > 0;
}

void TlsEnd::close_notify() {
    SSL_shutdown(ssl_.get());
}

TlsOrigin::TlsOrigin(const Certificates::Files& files, Script script)
    : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
      script_(std::move(script)),
      listener_(Socket::listen("127.0.0.1", 0)) {
    check(SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) == 1 &&
              SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1,
          "certificate of the origin");
    SSL_CTX_set_alpn_select_cb(
        context_.get(),
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
           unsigned in_size, void*) {
            unsigned char* chosen = nullptr;
            if (SSL_select_next_proto(&chosen, size, kOffered, sizeof kOffered, in, in_size) !=
                OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_NOACK;
            *out = chosen;
            return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
    acceptor_ = std::thread([this] { accept_all(); });
}

TlsOrigin::~TlsOrigin() {
    listener_.shut();
    acceptor_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const auto fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
}

std::string TlsOrigin::last_name() {
    const std::lock_guard lock(mutex_);
    return name_;
}
std::string TlsOrigin::last_protocol() {
    const std::lock_guard lock(mutex_);
    return protocol_;
}

void TlsOrigin::accept_all() {
    block_sigpipe();
    for (;;) {
        auto socket = listener_.accept();
        if (!socket.open()) return;
        threads_.emplace_back([this, accepted = std::make_shared<Socket>(std::move(socket))] {
            serve(std::move(*accepted));
        });
    }
}

void TlsOrigin::serve(Socket socket) {
    if (cuts > 0 && cuts-- > 0) {
        std::string hello;
        socket.receive(hello);
        return;
    }
    std::list<int>::iterator place;
    {
        const std::lock_guard lock(mutex_);
        place = open_.insert(open_.end(), socket.descriptor());
    }
    TlsEnd end(context_.get(), std::move(socket), true);
    if (end.open()) {
        ++handshakes;
        if (SSL_session_reused(end.ssl())) ++resumed;
        const std::lock_guard lock(mutex_);
        const auto* name = SSL_get_servername(end.ssl(), TLSEXT_NAMETYPE_host_name);
        name_ = name ? name : "";
        const unsigned char* protocol = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(end.ssl(), &protocol, &size);
        protocol_.assign(reinterpret_cast<const char*>(protocol), size);
    }
    std::string input;
    auto goes_on = end.open();
    while (goes_on) {
        std::size_t head = 0;
        while (goes_on && (head = input.find("\r\n\r\n")) == std::string::npos)
            goes_on = end.receive(input);
        if (!goes_on) break;
        const auto request = input.substr(0, head + 2);
        const auto length = std::strtoull(field_of(request, "Content-Length").c_str(), nullptr, 10);
        input.erase(0, head + 4);
        while (goes_on && input.size() < length) goes_on = end.receive(input);
        ++requests;
        const auto answer = script_(request, input.substr(0, length));
        input.erase(0, length);
        goes_on = end.send(answer) && !hang_up && field_of(answer, "Connection") != "close";
    }
    if (end.open() && tell_end) end.close_notify();
    const std::lock_guard lock(mutex_);
    open_.erase(place);
    end.socket.close();
}

TlsClientEnd::TlsClientEnd(const std::string& address, std::uint16_t port, const std::string& ca,
                           const std::string& name, int highest_version, std::string_view before)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    check(SSL_CTX_load_verify_file(context_.get(), ca.c_str()) == 1, "CA of the client");
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context_.get(), kHttp1, sizeof kHttp1);
    if (highest_version != 0) {
        SSL_CTX_set_max_proto_version(context_.get(), highest_version);
        SSL_CTX_set_security_level(context_.get(), 0);
    }
    auto socket = Socket::connect(address, port);
    if (!before.empty()) socket.send(before);
    end = TlsEnd(context_.get(), std::move(socket), false, name);
}

Answer TlsClientEnd::get(std::string_view target, std::string_view fields) {
    end.send(std::string("GET ")
                 .append(target)
                 .append(" HTTP/1.1\r\nHost: origin.test\r\n")
                 .append(fields)
                 .append("\r\n"));
    return read();
}

Answer TlsClientEnd::read() {
    Answer answer;
    std::size_t head = 0;
    while ((head = input_.find("\r\n\r\n")) == std::string::npos)
        if (!end.receive(input_)) return answer;
    answer.head = input_.substr(0, head + 2);
    input_.erase(0, head + 4);
    answer.status = static_cast<unsigned>(std::atoi(answer.head.c_str() + 9));
    const auto length = std::strtoull(answer.field("Content-Length").c_str(), nullptr, 10);
    while (input_.size() < length && end.receive(input_)) {
    }
    answer.complete = input_.size() >= length;
    answer.body = input_.substr(0, length);
    input_.erase(0, length);
    return answer;
}

std::string TlsClientEnd::protocol() const {
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(end.ssl(), &protocol, &size);
    return {reinterpret_cast<const char*>(protocol), size};
}

}  // namespace proxy::test
