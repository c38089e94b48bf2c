#pragma once

#include <string>

namespace app {

/// The file of --html. It is opened before the run, so that a wrong path ends the command early.
/// Until write(), an existing file keeps its content. One thread.
class PageFile {
public:
    /// An empty path: no page. Throws std::runtime_error that names a file which cannot be written.
    explicit PageFile(std::string path);
    /// Removes a file that the constructor made, if it is still empty.
    ~PageFile();
    PageFile(const PageFile&) = delete;
    PageFile& operator=(const PageFile&) = delete;

    bool is_wanted() const { return fd_ >= 0; }
    /// Makes this text the whole content. Throws std::runtime_error that names the file.
    void write(const std::string& text);

private:
    const std::string path_;
    int fd_ = -1;
    bool is_new_ = false;
};

/// A command line in one line, as a POSIX shell takes it. The name of the program has no folder.
std::string shell_text(int argc, const char* const* argv);

}  // namespace app
