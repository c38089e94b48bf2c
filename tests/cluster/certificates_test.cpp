// Several certificates, chosen by the name that a client asks for, and their renewal.
#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/config/config_json.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/cluster/tls_kit.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace certificates_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint16_t kTlsPort = 3130;

Certificates& authority() {
    static Certificates made;
    return made;
}

/// The properties of a handshake.
struct AnswerOptions {
    int version = 0;                 // the only one; 0: any
    const char* signatures = "";     // of the server
    SSL_SESSION* session = nullptr;  // to resume
};

/// A TLS client that looks at the certificate, and trusts any.
class Visitor {
public:
    Visitor(const std::string& address, const std::string& name) : Visitor(address, name, {}) {}
    Visitor(const std::string& address, const std::string& name, const AnswerOptions& wishes)
        : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
          socket_(Socket::connect(address, kTlsPort)),
          ssl_(SSL_new(context_.get()), SSL_free) {
        auto* const ssl = ssl_.get();
        if (wishes.version != 0) {
            SSL_set_min_proto_version(ssl, wishes.version);
            SSL_set_max_proto_version(ssl, wishes.version);
        }
        if (*wishes.signatures != '\0') SSL_set1_sigalgs_list(ssl, wishes.signatures);
        if (wishes.session) SSL_set_session(ssl, wishes.session);
        if (!name.empty()) SSL_set_tlsext_host_name(ssl, name.c_str());
        SSL_set_fd(ssl, socket_.descriptor());
        open_ = SSL_connect(ssl) == 1;
    }

    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    ~Visitor() {
        // Otherwise OpenSSL discards the session, as that of a broken connection.
        SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }

    bool open() const { return open_; }
    bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }

    /// The first DNS name of the certificate.
    std::string certificate() const {
        const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
            static_cast<GENERAL_NAMES*>(
                X509_get_ext_d2i(peer(), NID_subject_alt_name, nullptr, nullptr)),
            GENERAL_NAMES_free);
        if (!names || sk_GENERAL_NAME_num(names.get()) == 0) return {};
        const auto* const first = sk_GENERAL_NAME_value(names.get(), 0)->d.dNSName;
        return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(first)),
                static_cast<std::size_t>(ASN1_STRING_length(first))};
    }
    std::string key_type() const { return EVP_PKEY_get0_type_name(X509_get0_pubkey(peer())); }

    /// Whether a request gets a response.
    bool is_served() {
        const std::string request = "GET /one HTTP/1.1\r\nHost: origin.test\r\n\r\n";
        if (SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) <= 0)
            return false;
        std::string answer;
        while (!answer.ends_with("body of /one")) {
            char piece[1024];
            const auto size = SSL_read(ssl_.get(), piece, sizeof piece);
            if (size <= 0) return false;
            answer.append(piece, static_cast<std::size_t>(size));
        }
        return answer.starts_with("HTTP/1.1 200");
    }
    /// A session for a later visit. With TLS 1.3 it has arrived before the first response.
    std::shared_ptr<SSL_SESSION> session() {
        return {SSL_get1_session(ssl_.get()), SSL_SESSION_free};
    }

private:
    X509* peer() const { return SSL_get0_peer_certificate(ssl_.get()); }

    std::shared_ptr<SSL_CTX> context_;
    Socket socket_;
    std::shared_ptr<SSL> ssl_;
    bool open_ = false;
};

class ServerCertificates : protected LogCapture, public NodesTest {
protected:
    ServerCertificates() { spdlog::set_level(spdlog::level::info); }  // which NodesTest turns off

    /// A pair in files of its own, so that a test may replace them.
    CertificateFiles pair(const std::string& names, int days_to = 30,
                          Certificates::KeyType type = Certificates::KeyType::ec) {
        const auto made =
            authority().issue(names, -std::chrono::days(1), std::chrono::days(days_to), type);
        const auto base = folder_.path() / std::to_string(++pairs_);
        const CertificateFiles files{base.string() + ".crt", base.string() + ".key"};
        fs::copy_file(made.certificate, files.certificate);
        fs::copy_file(made.key, files.key);
        return files;
    }
    /// Replaces a pair as certbot and acme.sh do, by files that take the names of the old ones.
    void renew(const CertificateFiles& files, const std::string& names) {
        const auto made = pair(names);
        fs::rename(made.certificate, files.certificate);
        fs::rename(made.key, files.key);
    }
    Config with(std::vector<CertificateFiles> pairs) const {
        auto settings = config("a");
        settings.tls.emplace();
        settings.tls->listen = {settings.listen.host, kTlsPort};
        settings.tls->certificates = std::move(pairs);
        return settings;
    }

    static std::string got(const std::string& name) {
        return Visitor(address("a"), name).certificate();
    }
    static Visitor visit(const std::string& name, const AnswerOptions& wishes) {
        return {address("a"), name, wishes};
    }
    static nlohmann::json status_page() {
        return nlohmann::json::parse(admin_client().get("/api/v1/status").body);
    }

    const TemporaryDirectory folder_;
    int pairs_ = 0;
};

TEST_F(ServerCertificates, AreChosenByName) {
    start(with({pair("DNS:first.test"), pair("DNS:*.b.test"), pair("DNS:x.b.test,DNS:c.test")}));
    EXPECT_EQ(got("first.test"), "first.test");
    EXPECT_EQ(got("y.b.test"), "*.b.test");
    EXPECT_EQ(got("x.b.test"), "x.b.test");
    EXPECT_EQ(got("C.Test"), "x.b.test");
    EXPECT_EQ(got("unknown.test"), "first.test");
    EXPECT_EQ(got(""), "first.test");
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        auto visitor = visit("x.b.test", {.version = version});
        EXPECT_EQ(visitor.certificate(), "x.b.test");
        EXPECT_TRUE(visitor.is_served());
    }
    // A client that verifies is content, and HTTP/1.1 is agreed on with each certificate.
    TlsClientEnd trusting(address("a"), kTlsPort, authority().ca(), "z.b.test");
    ASSERT_TRUE(trusting.end.open());
    EXPECT_EQ(trusting.protocol(), "http/1.1");
    EXPECT_EQ(trusting.get("/one").status, 200u);
}

TEST_F(ServerCertificates, StandBesideTheSinglePairWhichIsTheDefault) {
    auto settings = with({pair("DNS:b.test")});
    const auto single = pair("DNS:a.test");
    settings.tls->certificate = single.certificate;
    settings.tls->key = single.key;
    start(std::move(settings));
    EXPECT_EQ(got("unknown.test"), "a.test");
    EXPECT_EQ(got("b.test"), "b.test");
}

TEST_F(ServerCertificates, MayHaveKeysOfTwoTypesForOneName) {
    start(with({pair("DNS:first.test"), pair("DNS:b.test", 30, Certificates::KeyType::rsa),
                pair("DNS:b.test")}));
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const auto by_rsa = visit("b.test", {version, "rsa_pss_rsae_sha256:RSA+SHA256"});
        EXPECT_EQ(by_rsa.key_type(), "RSA");
        EXPECT_EQ(by_rsa.certificate(), "b.test");
        const auto by_ec = visit("b.test", {version, "ECDSA+SHA256"});
        EXPECT_EQ(by_ec.key_type(), "EC");
        EXPECT_EQ(by_ec.certificate(), "b.test");
    }
}

TEST_F(ServerCertificates, ResumeSessionsUnderNamesOfTheSameCertificateOnly) {  // RFC 6066 §3
    auto settings = with({pair("DNS:first.test"), pair("DNS:b.test"), pair("DNS:c.test")});
    settings.workers = 3;
    start(std::move(settings));
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const std::string name : {"first.test", "b.test"}) {
            auto before = visit(name, {.version = version});
            ASSERT_TRUE(before.is_served());
            EXPECT_FALSE(before.resumed());
            const auto session = before.session();
            for (int i = 0; i < 6; ++i) {  // on any worker
                auto again = visit(name, {.version = version, .session = session.get()});
                EXPECT_TRUE(again.resumed()) << name << ' ' << version;
                EXPECT_TRUE(again.is_served());
            }
            auto other = visit("c.test", {.version = version, .session = session.get()});
            EXPECT_TRUE(other.open());
            EXPECT_FALSE(other.resumed()) << name << ' ' << version;
            EXPECT_EQ(other.certificate(), "c.test");
            EXPECT_TRUE(other.is_served());
        }
        auto of_b = visit("b.test", {.version = version});
        ASSERT_TRUE(of_b.is_served());
        const auto session = of_b.session();
        EXPECT_FALSE(visit("first.test", {.version = version, .session = session.get()}).resumed());
        EXPECT_FALSE(visit("", {.version = version, .session = session.get()}).resumed());
    }
}

TEST_F(ServerCertificates, AreRenewedWithoutAReload) {
    const auto first = pair("DNS:old.test,DNS:first.test"), second = pair("DNS:b.test");
    start(with({first, second}));
    Visitor before(address("a"), "first.test");
    ASSERT_TRUE(before.is_served());
    EXPECT_EQ(before.certificate(), "old.test");
    renew(first, "DNS:new.test,DNS:first.test");
    EXPECT_TRUE(eventually([&] { return got("first.test") == "new.test"; }));
    EXPECT_EQ(got("b.test"), "b.test");
    EXPECT_TRUE(before.is_served()) << "goes on under what it began with";
    EXPECT_TRUE(eventually(
        [&] { return logged("certificate " + first.certificate + " was renewed").size() == 1; }));
    EXPECT_THAT(logged("reload"), IsEmpty());
    EXPECT_EQ(status("a").config.reloads, 0u);

    // Again, and in place.
    const auto made = pair("DNS:newer.test,DNS:first.test");
    fs::copy_file(made.certificate, first.certificate, fs::copy_options::overwrite_existing);
    fs::copy_file(made.key, first.key, fs::copy_options::overwrite_existing);
    EXPECT_TRUE(eventually([&] { return got("first.test") == "newer.test"; }));
}

TEST_F(ServerCertificates, StayWhenTheirRenewalIsBroken) {
    const auto first = pair("DNS:a.test"), second = pair("DNS:old.test,DNS:b.test");
    start(with({first, second}));
    std::ofstream(first.certificate) << "what a full disk leaves";
    renew(second, "DNS:new.test,DNS:b.test");
    EXPECT_TRUE(eventually([&] { return got("b.test") == "new.test"; }));
    EXPECT_EQ(got("a.test"), "a.test");
    const std::string refused =
        "certificate not renewed, the former one stays: "
        "$.tls.certificates[0].certificate: " +
        first.certificate +
        " has no certificate in PEM, a text that begins with -----BEGIN CERTIFICATE-----";
    EXPECT_THAT(logged(refused), SizeIs(1));

    renew(second, "DNS:newer.test,DNS:b.test");
    EXPECT_TRUE(eventually([&] { return got("b.test") == "newer.test"; }));
    EXPECT_THAT(logged(refused), SizeIs(1)) << "it was said before";

    const auto mended = pair("DNS:mended.test,DNS:a.test");
    fs::rename(mended.certificate, first.certificate);  // without its key
    EXPECT_TRUE(eventually([&] { return logged("is not the key of").size() == 1; }));
    EXPECT_EQ(got("a.test"), "a.test");
    fs::rename(mended.key, first.key);
    EXPECT_TRUE(eventually([&] { return got("a.test") == "mended.test"; }));
}

TEST_F(ServerCertificates, FollowTheVolumesOfKubernetes) {
    const auto put = [&](const std::string& version, const std::string& names) {
        const auto made = pair(names);
        fs::create_directory(folder_.path() / version);
        fs::rename(made.certificate, folder_.path() / version / "tls.crt");
        fs::rename(made.key, folder_.path() / version / "tls.key");
        fs::create_symlink(version, folder_.path() / "..data_tmp");
        fs::rename(folder_.path() / "..data_tmp", folder_.path() / "..data");
    };
    put("..1", "DNS:old.test,DNS:a.test");
    for (const auto* file : {"tls.crt", "tls.key"})
        fs::create_symlink(fs::path("..data") / file, folder_.path() / file);
    start(with({{folder_.path() / "tls.crt", folder_.path() / "tls.key"}}));
    EXPECT_EQ(got("a.test"), "old.test");
    put("..2", "DNS:new.test,DNS:a.test");
    fs::remove_all(folder_.path() / "..1");
    EXPECT_TRUE(eventually([&] { return got("a.test") == "new.test"; }));
    put("..3", "DNS:newer.test,DNS:a.test");
    EXPECT_TRUE(eventually([&] { return got("a.test") == "newer.test"; }));
}

TEST_F(ServerCertificates, AreFollowedWhereAReloadPutsThem) {
    auto settings = with({pair("DNS:a.test")});
    const auto file = folder_.path() / "hearsay.json";
    std::ofstream(file) << effective_config(settings);
    auto& node = start(settings, file);
    EXPECT_EQ(got("b.test"), "a.test");
    fs::create_directory(folder_.path() / "other");
    auto added = pair("DNS:old.test,DNS:b.test");
    for (auto* each : {&added.certificate, &added.key}) {
        const auto to = folder_.path() / "other" / fs::path(*each).filename();
        fs::rename(*each, to);
        *each = to;
    }
    settings.tls->certificates.push_back(added);
    std::ofstream(file) << effective_config(settings);
    node.reload();
    EXPECT_TRUE(eventually([&] { return got("b.test") == "old.test"; }));
    renew(added, "DNS:new.test,DNS:b.test");
    EXPECT_TRUE(eventually([&] { return got("b.test") == "new.test"; }));
    EXPECT_EQ(status("a").config.reloads, 1u);
}

TEST_F(ServerCertificates, ShowWhenTheyExpire) {
    const auto good = pair("DNS:a.test,DNS:*.a.test", 30), over = pair("DNS:b.test", 0);
    start(with({good, over}));
    const auto page = status_page();
    const auto& shown = page.at("tls").at("certificates");
    ASSERT_EQ(shown.size(), 2u);
    EXPECT_EQ(shown[0].at("file"), good.certificate);
    EXPECT_EQ(shown[0].at("names"), (std::vector<std::string>{"a.test", "*.a.test"}));
    EXPECT_EQ(shown[0].at("key_type"), "EC");
    EXPECT_THAT(shown[0].at("not_after").get<std::string>(), HasSubstr("T"));
    constexpr double kDay = 24 * 60 * 60;
    EXPECT_NEAR(shown[0].at("expiry_seconds").get<double>(), 30 * kDay, kDay / 24);
    EXPECT_LE(shown[1].at("expiry_seconds").get<double>(), 0);
    const auto metrics = admin("a", "/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("hearsay_tls_certificate_expiry_seconds{certificate=\"" +
                                   good.certificate + "\"} 2"));
    EXPECT_THAT(metrics, HasSubstr("hearsay_tls_certificate_expiry_seconds{certificate=\"" +
                                   over.certificate + "\"} -"));
}

TEST_F(ServerCertificates, AreAbsentFromTheMetricsOfANodeWithoutTls) {
    start(config("a"));
    EXPECT_EQ(status_page().at("tls").at("certificates"), nlohmann::json::array());
    EXPECT_EQ(admin("a", "/metrics").body.find("hearsay_tls_certificate"), std::string::npos);
}

}  // namespace certificates_test
}  // namespace proxy::test
