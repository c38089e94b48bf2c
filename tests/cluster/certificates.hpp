#pragma once

#include <openssl/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "proxy/config/config.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {

/// Certificates made for one test run, and the directory that holds them as PEM files.
class Certificates {
public:
    Certificates();
    Certificates(const Certificates&) = delete;

    using Files = CertificateFiles;
    enum class KeyType { ec, rsa };
    /// Signed by ca(), valid from `from` after now until `to` after now. `names` as OpenSSL writes
    /// them: `DNS:a.example,IP:127.0.0.1`.
    Files issue(const std::string& names, std::chrono::hours from = -std::chrono::days(1),
                std::chrono::hours to = std::chrono::days(1), KeyType type = KeyType::ec);
    /// A copy of this key that a passphrase protects.
    std::string encrypted(const std::string& key) const;
    std::string ca() const { return ca_.certificate; }
    /// Another authority, which signed nothing.
    std::string strange_ca() const { return strange_.certificate; }

private:
    struct Pair {
        std::shared_ptr<X509> certificate;
        std::shared_ptr<EVP_PKEY> key;
    };
    Pair make(const std::string& subject, const std::string& names, const Pair* issuer,
              std::chrono::hours from, std::chrono::hours to, KeyType type = KeyType::ec);
    Files write(const Pair& pair);

    TemporaryDirectory directory_;
    Pair authority_;
    Files ca_, strange_;
    int made_ = 0;
};

}  // namespace proxy::test
