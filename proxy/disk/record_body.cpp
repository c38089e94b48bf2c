#include "proxy/disk/record_body.hpp"

#include <fcntl.h>

#include <algorithm>

namespace proxy {
namespace {

/// Removes the pages of wrong bytes from the page cache, so that readers in the middle of the body
/// do not get them. Large pages go as a whole.
void forget_pages(int fd, std::uint64_t at, std::uint64_t bytes) {
    constexpr std::uint64_t kLargePage = 2 << 20;
    const auto begin = at - at % kLargePage;
    const auto end = (at + bytes + kLargePage - 1) / kLargePage * kLargePage;
    ::posix_fadvise(fd, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                    POSIX_FADV_DONTNEED);
}

/// Counts as long as it lives.
class LoadCount {
public:
    explicit LoadCount(std::atomic<unsigned>& count) : count_(count) { ++count_; }
    ~LoadCount() { --count_; }
    LoadCount(const LoadCount&) = delete;
    LoadCount& operator=(const LoadCount&) = delete;

private:
    std::atomic<unsigned>& count_;
};

}  // namespace

RecordBody::Slice RecordBody::slice_at(std::uint64_t offset) const {
    const auto begin = offset - offset % kSliceBytes;
    return {begin, std::min(begin + kSliceBytes, where_.bytes)};
}

void RecordBody::read_slice(std::shared_ptr<const RecordBody> self, std::uint64_t offset,
                            std::weak_ptr<const void> asker, Answer answer) const {
    auto job = [self = std::move(self), slice = slice_at(offset), asker = std::move(asker),
                answer = std::move(answer)](bool ending) {
        if (asker.expired()) return;
        if (ending) return answer(DiskError::ending);
        auto loaded = self->load(slice);
        if (!loaded && self->spoilt_) self->spoilt_(*self);
        answer(std::move(loaded));
    };
    threads_.run(std::move(job));
}

DiskResult<DiskBytes> RecordBody::load(Slice slice) const {
    const LoadCount loading(loading_);
    DiskBytes bytes(slice.end - slice.begin);
    const auto error = where_.segment->file.read(bytes, where_.at + slice.begin);
    const auto sum = sums_[slice.begin / kSliceBytes];
    if (!error && slice_agrees(sum, bytes, where_.segment->header.home)) return bytes;
    forget_pages(where_.segment->file.fd(), where_.at + slice.begin, slice.end - slice.begin);
    const auto why = error ? error : make_error_code(DiskError::bad_checksum);
    failed_(why);
    return why;
}

}  // namespace proxy
