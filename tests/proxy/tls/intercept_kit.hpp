#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "proxy/http/wall_clock.hpp"
#include "proxy/tls/new_authority.hpp"
#include "proxy/tls/signing_authority.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {

/// A CA as `hearsay ca create` makes it, in files of its own.
class AuthorityFiles {
public:
    explicit AuthorityFiles(const std::vector<std::string>& hosts,
                            std::chrono::days life = std::chrono::days(100),
                            WallTime now = wall_now()) {
        write(make_authority({hosts, "tests", life}, now));
    }

    CertificateFiles files() const {
        return {(folder_.path() / "ca.pem").string(), (folder_.path() / "ca-key.pem").string()};
    }
    void write(const NewAuthority& made) const {
        replace(files().certificate, made.certificate);
        replace(files().key, made.key);
    }
    std::shared_ptr<const SigningAuthority> read() const {
        std::vector<ConfigError> errors;
        return read_signing_authority(files(), "$.ca", errors);
    }

private:
    static void replace(const std::string& file, const std::string& text) {
        std::ofstream(file + ".new") << text;
        std::filesystem::rename(file + ".new", file);
    }
    TemporaryDirectory folder_;
};

}  // namespace proxy::test
