#include "proxy/net/certificate_renewal.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "protocol/net/plain_message.hpp"

namespace proxy {
namespace {

/// The server certificates, and the CA.
std::vector<const ServerCertificate*> pairs_of(const TlsContexts& contexts) {
    std::vector<const ServerCertificate*> pairs;
    for (const auto& certificate : contexts.certificates) pairs.push_back(certificate.get());
    if (contexts.interception) pairs.push_back(contexts.interception->authority->pair.get());
    return pairs;
}

}  // namespace

CertificateRenewal::CertificateRenewal(const boost::asio::any_io_executor& executor,
                                       Renewed renewed)
    : renewed_(std::move(renewed)), files_(executor, [this] {
          try {
              look();
          } catch (const std::exception& unexpected) {
              spdlog::error("cannot renew certificates: {}", protocol::plain_message(unexpected));
          }
      }) {}

void CertificateRenewal::follow(std::shared_ptr<const Config> config) {
    config_ = std::move(config);
    const auto all = pairs_of(*config_->tls_contexts);
    if (all.empty() && !watches_) return;
    watch();
    if (std::any_of(all.begin(), all.end(), [](const ServerCertificate* pair) {
            return stamp_of(pair->files) != pair->stamp;
        }))
        files_.note_change();
}

void CertificateRenewal::watch() {
    std::vector<std::filesystem::path> files;
    for (const auto* const pair : pairs_of(*config_->tls_contexts))
        for (const auto& file : {pair->files.certificate, pair->files.key})
            files.push_back(std::filesystem::absolute(file));
    watches_ = !files.empty();
    const auto error = files_.watch(files);
    const auto text = error ? error.message() : std::string();
    if (text != trouble_ && error)
        spdlog::warn(
            "renewed certificates take effect by a reload only, because their folders cannot be "
            "watched: {}",
            text);
    trouble_ = text;
}

void CertificateRenewal::look() {
    watch();  // before the look, so that no change falls between them
    auto read = read_changed_certificates(*config_, failed_);
    failed_ = std::move(read.failed);
    for (const auto& error : read.errors)
        spdlog::error("certificate not renewed, the former one stays: {}: {}", error.path,
                      error.message);
    if (read.contexts) renewed_(config_->tls_contexts, std::move(read));
}

}  // namespace proxy
