#include "proxy/disk/directory_ownership.hpp"

#include <utility>

#include "proxy/disk/recovery.hpp"

namespace proxy {

bool DirectoryOwnership::is_lost() const {
    const std::lock_guard lock(mutex_);
    return super_.is_removed();
}

boost::system::error_code DirectoryOwnership::set_company(const SuperFile::DirectorySet& company) {
    const std::lock_guard lock(mutex_);
    return super_.set_company(company);
}

void DirectoryOwnership::leave() {
    const std::lock_guard lock(mutex_);
    company_ = super_.company();
    instance_ = super_.instance();
}

boost::system::error_code DirectoryOwnership::retake(DiskCalls& calls,
                                                     const std::filesystem::path& path,
                                                     std::uint64_t secret_id) {
    const std::lock_guard lock(mutex_);
    super_ = SuperFile();  // unlocks a file that may belong to another process now
    auto taken = SuperFile::take(calls, path, secret_id);
    if (!taken) return taken.error();
    super_ = std::move(*taken);
    if (const auto error = remove_segments(calls, path)) return error;
    const SuperFile::DirectorySet alone{company_.term + 1, company_of({super_.directory_id()})};
    // Its seqs continue those of this process.
    return super_.set_company(alone, instance_);
}

}  // namespace proxy
