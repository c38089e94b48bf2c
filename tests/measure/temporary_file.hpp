#pragma once

#include <zlib.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "measure/run/child_process.hpp"

namespace measure {

/// A file with this content, plain or gzip. The end of the test removes it.
class TemporaryFile {
public:
    enum class Kind { plain, gzip };
    explicit TemporaryFile(const std::string& content, Kind kind = Kind::plain)
        : directory_("hearsay-test-"), path_(directory_.path() + "/log") {
        if (kind == Kind::plain) {
            std::ofstream(path_, std::ios::binary) << content;
            return;
        }
        const gzFile out = gzopen(path_.c_str(), "wb");
        if (!out) throw std::runtime_error(path_);
        gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
        gzclose(out);
    }
    const std::string& path() const { return path_; }

private:
    TemporaryDirectory directory_;
    std::string path_;
};

}  // namespace measure
