#pragma once

#include <string>

namespace proxy {

/// The block that a PEM file should have.
enum class PemBlock : unsigned char { certificate, key };

/// Why OpenSSL could not use a PEM file: what the file has in place of the block, or OpenSSL's own
/// reason, from its queue of errors. Reads the file, so it may block.
std::string pem_fault(const std::string& file, PemBlock wanted);

}  // namespace proxy
