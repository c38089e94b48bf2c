#pragma once

#include <openssl/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/tls/certificate_choice.hpp"

namespace proxy {

/// The state of a file by which a change is noticed. All zero for a missing file.
struct FileStamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified = 0, changed = 0;  // nanoseconds since 1970

    bool operator==(const FileStamp&) const = default;
};

/// Both files of a pair.
struct PairStamp {
    FileStamp certificate, key;

    bool operator==(const PairStamp&) const = default;
};

/// Looks at the files, following symbolic links.
PairStamp stamp_of(const CertificateFiles& files);

/// The properties of a certificate for people.
struct CertificateFacts : CertificateIdentity {
    std::string file;
    bool has_san = true;  // subjectAltName with a DNS name or an address
    std::chrono::sys_seconds not_before{}, not_after{};
};

/// A certificate with its chain and key, as read from its files. Immutable; any thread.
struct ServerCertificate {
    CertificateFiles files;
    PairStamp stamp;  // from before the files were read
    CertificateFacts facts;
    /// A context that has this certificate alone. It holds chain and key, and serves nobody.
    std::shared_ptr<SSL_CTX> holder;
};

/// Reads a pair. Returns null after an error, and appends the reasons to `errors`, for the
/// certificate and for the key. `setting`: the place of the pair, such as `$.tls`. Reads files, so
/// it may block.
std::shared_ptr<const ServerCertificate> read_server_certificate(const CertificateFiles& files,
                                                                 const std::string& setting,
                                                                 std::vector<ConfigError>& errors);

}  // namespace proxy
