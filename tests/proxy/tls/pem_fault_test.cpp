#include "proxy/tls/pem_fault.hpp"

#include <gmock/gmock.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <filesystem>
#include <fstream>

#include "base/tls/new_tls_context.hpp"
#include "tests/proxy/disk/disk_folder.hpp"

namespace proxy {
namespace pem_fault_test {

using testing::HasSubstr;
using testing::StartsWith;

class PemFault : public testing::Test {
protected:
    std::string of_certificate(const std::string& content) {
        std::ofstream(file_, std::ios::binary) << content;
        const auto context = base::new_tls_context(base::TlsSide::server);
        ERR_clear_error();
        EXPECT_NE(SSL_CTX_use_certificate_chain_file(context.get(), file_.c_str()), 1);
        return pem_fault(file_, PemBlock::certificate);
    }
    std::string of_key(const std::string& content) {
        std::ofstream(file_, std::ios::binary) << content;
        const auto context = base::new_tls_context(base::TlsSide::server);
        ERR_clear_error();
        EXPECT_NE(SSL_CTX_use_PrivateKey_file(context.get(), file_.c_str(), SSL_FILETYPE_PEM), 1);
        return pem_fault(file_, PemBlock::key);
    }

    const test::DiskFolder folder_;
    const std::string file_ = (folder_.path() / "x.pem").string();
};

TEST_F(PemFault, SaysWhatBelongsInTheFile) {
    EXPECT_EQ(of_certificate("hello"),
              file_ +
                  " has no certificate in PEM, a text that begins with -----BEGIN "
                  "CERTIFICATE-----");
    EXPECT_EQ(of_key(""), file_ +
                              " has no private key in PEM, a text that begins with -----BEGIN "
                              "PRIVATE KEY-----");
    EXPECT_THAT(of_certificate("\x30\x82\x01\x0a"),
                HasSubstr("it seems to be in DER: openssl x509 -inform DER -in " + file_));
}

TEST_F(PemFault, SaysWhatTheFileHasInstead) {
    EXPECT_THAT(
        of_certificate("-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----"),
        StartsWith(file_ + " has EC PRIVATE KEY in place of CERTIFICATE: it needs a text"));
    EXPECT_THAT(of_key("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"),
                StartsWith(file_ + " has CERTIFICATE in place of PRIVATE KEY: it needs a text"));
}

TEST_F(PemFault, GivesOpenSslsReasonForADamagedBlock) {
    EXPECT_THAT(of_certificate("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"),
                StartsWith("cannot use the certificate in " + file_ + ": OpenSSL says \""));
}

TEST_F(PemFault, NamesAMissingFile) {
    const auto context = base::new_tls_context(base::TlsSide::server);
    ERR_clear_error();
    SSL_CTX_use_certificate_chain_file(context.get(), "/no/such.pem");
    EXPECT_EQ(pem_fault("/no/such.pem", PemBlock::certificate),
              "cannot read /no/such.pem: No such file or directory");
}

}  // namespace pem_fault_test
}  // namespace proxy
