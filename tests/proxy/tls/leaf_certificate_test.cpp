#include "proxy/tls/leaf_certificate.hpp"

#include <gmock/gmock.h>
#include <openssl/x509v3.h>

#include "proxy/tls/certificate_builder.hpp"
#include "tests/proxy/tls/intercept_kit.hpp"

namespace proxy::test {
namespace leaf_certificate_test {

using namespace std::chrono_literals;
using std::chrono::days;

const WallTime kNow = wall_now();

CertificateFacts lives(WallTime from, WallTime to) {
    CertificateFacts facts;
    facts.not_before = from;
    facts.not_after = to;
    return facts;
}

/// The reason for which OpenSSL refuses `leaf` of this CA for a host; X509_V_OK: it takes it.
int judge(const SigningAuthority& authority, X509* leaf, const char* host,
          bool is_address = false) {
    const std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
    X509_STORE_add_cert(store.get(), authority.certificate());
    const std::shared_ptr<X509_STORE_CTX> context(X509_STORE_CTX_new(), X509_STORE_CTX_free);
    X509_STORE_CTX_init(context.get(), store.get(), leaf, nullptr);
    X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER);
    auto* const rules = X509_STORE_CTX_get0_param(context.get());
    X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT);
    if (is_address)
        X509_VERIFY_PARAM_set1_ip_asc(rules, host);
    else
        X509_VERIFY_PARAM_set1_host(rules, host, 0);
    X509_verify_cert(context.get());
    return X509_STORE_CTX_get_error(context.get());
}

TEST(LeafTimes, LastAWeekFromADayAgo) {
    const auto times = leaf_times(lives(kNow - days(9), kNow + days(99)), kNow);
    EXPECT_EQ(times.from, kNow - days(1));
    EXPECT_EQ(times.to, kNow + days(6));
    EXPECT_FALSE(times.is_old_at(kNow + days(3)));
    EXPECT_TRUE(times.is_old_at(kNow + days(4)));
    EXPECT_TRUE(times.is_valid_at(kNow));
    EXPECT_FALSE(times.is_valid_at(kNow + days(6)));
}

TEST(LeafTimes, StayWithinThoseOfTheCa) {
    const auto times = leaf_times(lives(kNow - 2h, kNow + 5h), kNow);
    EXPECT_EQ(times.from, kNow - 2h);
    EXPECT_EQ(times.to, kNow + 5h);
}

TEST(LeafCertificates, AreTrustedForTheirHostAlone) {
    const AuthorityFiles ca({"crates.io"});
    const auto authority = ca.read();
    ASSERT_TRUE(authority);
    const auto leaf = mint_leaf(*authority, new_p256_key(), "static.crates.io", kNow);
    auto* const raw = leaf->certificate.get();
    EXPECT_EQ(judge(*authority, raw, "static.crates.io"), X509_V_OK);
    EXPECT_EQ(judge(*authority, raw, "crates.io"), X509_V_ERR_HOSTNAME_MISMATCH);
    EXPECT_EQ(X509_get_extension_flags(raw) & EXFLAG_CA, 0u);
    EXPECT_EQ(X509_get_key_usage(raw), static_cast<std::uint32_t>(KU_DIGITAL_SIGNATURE));
    EXPECT_EQ(X509_get_extended_key_usage(raw), static_cast<std::uint32_t>(XKU_SSL_SERVER));
    ASSERT_TRUE(X509_get0_authority_key_id(raw));
    EXPECT_EQ(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(raw),
                                    X509_get0_subject_key_id(authority->certificate())),
              0);
    EXPECT_GE(ASN1_STRING_length(X509_get0_serialNumber(raw)), 14) << "random bytes";
    const auto next = mint_leaf(*authority, leaf->key, "static.crates.io", kNow);
    EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(raw),
                               X509_get0_serialNumber(next->certificate.get())),
              0);
}

TEST(LeafCertificates, OfAStolenKeyAreWorthNothingElsewhere) {  // RFC 5280 §4.2.1.10
    const AuthorityFiles ca({"crates.io"});
    const auto authority = ca.read();
    const auto bank = mint_leaf(*authority, new_p256_key(), "bank.example", kNow);
    EXPECT_EQ(judge(*authority, bank->certificate.get(), "bank.example"),
              X509_V_ERR_PERMITTED_VIOLATION);
    for (const auto* address : {"192.0.2.1", "2001:db8::1"}) {
        const auto key = new_p256_key();
        CertificateBuilder builder(key.get(), kNow - days(1), kNow + days(1));
        const std::shared_ptr<GENERAL_NAMES> names(GENERAL_NAMES_new(), GENERAL_NAMES_free);
        auto* const name = GENERAL_NAME_new();
        GENERAL_NAME_set0_value(name, GEN_IPADD, a2i_IPADDRESS(address));
        sk_GENERAL_NAME_push(names.get(), name);
        builder.for_server();
        const auto leaf = builder.sign(authority->certificate(), authority->key());
        X509_add1_ext_i2d(leaf.get(), NID_subject_alt_name, names.get(), 1, 0);
        X509_sign(leaf.get(), authority->key(), EVP_sha256());
        EXPECT_EQ(judge(*authority, leaf.get(), address, true), X509_V_ERR_EXCLUDED_VIOLATION)
            << address;
    }
}

TEST(LeafCertificates, AreNotMadeByACaThatHasExpired) {
    const AuthorityFiles ca({"crates.io"}, days(1), kNow - days(2));
    const auto authority = ca.read();
    ASSERT_TRUE(authority);
    EXPECT_THROW(mint_leaf(*authority, new_p256_key(), "crates.io", kNow), std::runtime_error);
}

LeafPtr leaf_of(const std::string& authority, WallTime to = kNow + days(6)) {
    auto leaf = std::make_shared<LeafCertificate>();
    leaf->times = {kNow - days(1), to};
    leaf->authority = authority;
    return leaf;
}

TEST(LeafCache, ForgetsTheHostThatWasAskedForFirst) {
    LeafCache cache(2);
    cache.put("a", leaf_of("ca"));
    cache.put("b", leaf_of("ca"));
    EXPECT_TRUE(cache.find("a", "ca", kNow));
    cache.put("c", leaf_of("ca"));
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_FALSE(cache.find("b", "ca", kNow));
    EXPECT_TRUE(cache.find("a", "ca", kNow));
    EXPECT_TRUE(cache.find("c", "ca", kNow));
}

TEST(LeafCache, GivesNoCertificateOfAnotherCaOrTime) {
    LeafCache cache(2);
    cache.put("a", leaf_of("old"));
    EXPECT_FALSE(cache.find("a", "new", kNow));
    cache.put("a", leaf_of("new"));
    EXPECT_TRUE(cache.find("a", "new", kNow));
    EXPECT_FALSE(cache.find("a", "new", kNow + days(7)));
    EXPECT_EQ(cache.size(), 1u);
}

TEST(SigningAuthority, MustBeAValidCaThatMaySignForAllHosts) {
    const AuthorityFiles ca({"crates.io", "pypi.org"});
    const auto authority = ca.read();
    ASSERT_TRUE(authority);
    EXPECT_TRUE(authority->is_root);
    EXPECT_TRUE(authority->is_constrained());
    InterceptConfig config;
    const auto add = [&](const char* text) { config.hosts.push_back({text, Glob(text), 0}); };
    add("*.crates.io");
    add("pypi.org");
    EXPECT_TRUE(authority_faults(*authority, config, kNow).empty());
    EXPECT_TRUE(authority_doubts(*authority, kNow).empty());
    add("*");
    auto faults = authority_faults(*authority, config, kNow);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].path, "$.forward.intercept.hosts[2]");
    config.hosts.pop_back();
    faults = authority_faults(*authority, config, kNow + days(101));
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults[0].message, testing::HasSubstr("expired"));
    EXPECT_EQ(authority_faults(*authority, config, kNow - days(9)).size(), 1u);
    EXPECT_EQ(authority_doubts(*authority, kNow + days(80)).size(), 1u);

    auto another = *authority;
    another.may_sign = false;
    another.constraints = {{}};
    faults = authority_faults(another, config, kNow);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults[0].message, testing::HasSubstr("no CA"));
    const auto doubts = authority_doubts(another, kNow);
    ASSERT_EQ(doubts.size(), 1u);
    EXPECT_THAT(doubts[0].message, testing::HasSubstr("no name constraints"));
}

TEST(SigningAuthority, IsReadWithItsOwnKey) {
    const AuthorityFiles ca({"crates.io"}), other({"crates.io"});
    std::vector<ConfigError> errors;
    EXPECT_FALSE(
        read_signing_authority({ca.files().certificate, other.files().key}, "$.ca", errors));
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].path, "$.ca.key");
}

TEST(NewAuthority, PermitsEachHostOnceWithAllBelow) {
    EXPECT_EQ(permitted_names({"PyPI.org.", ".crates.io", "*.crates.io", "crates.io"}),
              (std::vector<std::string>{"pypi.org", "crates.io"}));
    for (const auto* bad : {"", "*", "192.0.2.1", "a b", "http://a", "a.*.b", "[::1]", "a:443"})
        EXPECT_THROW(permitted_names({bad}), std::invalid_argument) << bad;
    EXPECT_THROW(permitted_names({}), std::invalid_argument);
}

}  // namespace leaf_certificate_test
}  // namespace proxy::test
