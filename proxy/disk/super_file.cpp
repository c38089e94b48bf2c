#include "proxy/disk/super_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "proxy/disk/footer.hpp"
#include "proxy/disk/segment.hpp"

namespace proxy {
namespace {

// Alike in all versions: text, format, 4 zeros.
constexpr std::string_view kText = "hearsay disk cache\r\n\x1a\x04";
constexpr std::size_t kSummedBytes = 66;

struct Numbers {
    std::uint64_t directory_id = 0, secret_id = 0;
    SuperFile::DirectorySet company;
    std::uint32_t instance = 0;
};

DiskBytes encoded(const Numbers& numbers) {
    DiskBytes out;
    put_text(out, kText);
    put<std::uint32_t>(out, kDiskFormat);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, numbers.directory_id);
    put<std::uint64_t>(out, numbers.secret_id);
    put<std::uint64_t>(out, numbers.company.term);
    put<std::uint64_t>(out, numbers.company.members);
    put<std::uint32_t>(out, numbers.instance);
    out.resize(kSummedBytes);
    put<std::uint64_t>(out, XXH3_64bits(out.data(), out.size()));
    out.resize(kDiskSector);
    return out;
}

/// Errors: foreign, newer_format, bad_checksum.
DiskResult<Numbers> decoded(DiskView sector) {
    ByteCursor in(sector);
    if (in.text(kText.size()) != kText) return DiskError::foreign;
    if (in.number<std::uint32_t>() > kDiskFormat) return DiskError::newer_format;
    in.number<std::uint32_t>();
    Numbers numbers;
    numbers.directory_id = in.number<std::uint64_t>();
    numbers.secret_id = in.number<std::uint64_t>();
    numbers.company.term = in.number<std::uint64_t>();
    numbers.company.members = in.number<std::uint64_t>();
    numbers.instance = in.number<std::uint32_t>();
    if (!std::ranges::equal(encoded(numbers), sector)) return DiskError::bad_checksum;
    return numbers;
}

/// The bytes of the first sector that the file has.
DiskResult<DiskBytes> first_sector(const DiskFile& file) {
    DiskBytes bytes(kDiskSector);
    const auto got = file.read_some(bytes, 0);
    if (!got) return got.error();
    bytes.resize(*got);
    return bytes;
}

bool is_none(const boost::system::error_code& error) {
    return error == boost::system::errc::no_such_file_or_directory;
}

/// File systems and storage servers put these into fresh directories.
bool may_be_anywhere(const std::string& name) {
    return name == "lost+found" || name == ".snapshot" || name == ".snapshots" || name == ".zfs" ||
           name.starts_with(SuperFile::kOurs);
}

/// The super file was removed, or is still empty.
bool is_a_segment(DiskCalls& calls, const std::filesystem::path& path) {
    const auto file = DiskFile::open(calls, path, O_RDONLY);
    const auto sector = file ? first_sector(*file) : DiskResult<DiskBytes>(file.error());
    if (!sector) return false;
    const auto nothing =
        std::ranges::all_of(*sector, [](auto byte) { return byte == std::byte(); });
    return nothing || decode_segment_header(*sector);
}

std::uint64_t random_number() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

}  // namespace

DiskResult<DirectoryContents> look_into(DiskCalls& calls, const std::filesystem::path& directory) {
    using DirectoryOwner = DirectoryContents::DirectoryOwner;
    DirectoryContents found;
    std::vector<std::filesystem::path> segments;
    std::error_code error;
    std::filesystem::directory_iterator at(directory, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
        const auto name = at->path().filename().string();
        if (segment_number(name))
            segments.push_back(at->path());
        else if (!may_be_anywhere(name))
            found.other_file = name;
    }
    if (error) return of_system(error.value());
    const auto file = DiskFile::open(calls, directory / SuperFile::kName, O_RDONLY);
    if (!file && !is_none(file.error())) return file.error();
    const auto sector = file ? first_sector(*file) : DiskResult<DiskBytes>(DiskBytes());
    if (!sector) return sector.error();
    if (sector->size() < kDiskSector) {  // absent, empty, or cut off
        for (const auto& path : segments)
            if (!is_a_segment(calls, path)) found.other_file = path.filename().string();
        if (!found.other_file.empty()) found.whose = DirectoryOwner::others;
        return found;
    }
    found.whose = DirectoryOwner::ours;
    const auto numbers = decoded(*sector);
    if (!numbers && numbers.error() != DiskError::foreign) return numbers.error();
    if (numbers) {
        found.secret_id = numbers->secret_id;
    } else {
        found.whose = DirectoryOwner::others;
        found.other_file = SuperFile::kName;
    }
    return found;
}

std::uint64_t secret_mark_of(const summary::KeyHasher& hasher) {
    return hasher("hearsay disk cache").low;
}

DiskResult<SuperFile> SuperFile::take(DiskCalls& calls, const std::filesystem::path& directory,
                                      std::uint64_t secret_id) {
    using DirectoryOwner = DirectoryContents::DirectoryOwner;
    const auto found = look_into(calls, directory);
    if (!found) return found.error();
    // The directory of another program stays untouched.
    if (found->whose == DirectoryOwner::others) return DiskError::foreign;
    const bool empty = found->whose == DirectoryOwner::nobodys;
    auto file = DiskFile::open(calls, directory / kName, empty ? O_RDWR | O_CREAT : O_RDWR);
    if (!file) return file.error();
    if (::flock(file->fd(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return DiskError::in_use;
        return last_error();
    }
    const auto sector = first_sector(*file);
    if (!sector) return sector.error();
    SuperFile taken;
    taken.file_ = std::move(*file);
    taken.secret_mark_ = secret_id;
    if (sector->size() < kDiskSector) {
        if (!empty) return DiskError::foreign;
        taken.directory_id_ = random_number();
    } else {  // another process may have written it by now
        const auto numbers = decoded(*sector);
        if (!numbers) return numbers.error();
        if (numbers->secret_id != secret_id) return DiskError::other_secret;
        taken.directory_id_ = numbers->directory_id;
        taken.company_ = numbers->company;
        taken.instance_ = numbers->instance;
    }
    ++taken.instance_;
    if (const auto error = taken.write()) return error;
    if (empty)
        if (const auto error = sync_directory(calls, directory)) return error;
    return taken;
}

boost::system::error_code SuperFile::write() {
    const auto bytes = encoded({directory_id_, secret_mark_, company_, instance_});
    if (const auto error = file_.write(DiskView(bytes), 0)) return error;
    return file_.sync();
}

boost::system::error_code SuperFile::set_company(const DirectorySet& company,
                                                 std::uint32_t instance) {
    company_ = company;
    instance_ = std::max(instance_, instance);
    return write();
}

std::uint64_t company_of(std::vector<std::uint64_t> directory_ids) {
    std::ranges::sort(directory_ids);
    DiskBytes bytes;
    for (const auto id : directory_ids) put<std::uint64_t>(bytes, id);
    return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace proxy
