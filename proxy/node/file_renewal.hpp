#pragma once

#include <spdlog/spdlog.h>

#include <boost/asio/any_io_executor.hpp>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/debounced_watch.hpp"
#include "base/text/plain_message.hpp"
#include "proxy/config/loaded_config.hpp"

namespace proxy {

/// Watches the files of one member of WatchedFiles, and reads them anew when one has changed. Files
/// that cannot be read are logged, and the former ones stay. `Kind` has the words, the list of
/// files and the reader (renewed_files.hpp). One thread, that of the executor, which may block on a
/// disk.
template <class Kind>
class FileRenewal {
public:
    using Value = std::shared_ptr<const typename Kind::Value>;
    /// Gets the files to put in effect. `was`: those that they replace.
    using RenewalHandler = std::function<void(const Value& was, typename Kind::Read read)>;

    FileRenewal(const boost::asio::any_io_executor& executor, Kind kind, RenewalHandler renewed)
        : kind_(std::move(kind)), renewed_(std::move(renewed)), watch_(executor, [this] {
              try {
                  look();
              } catch (const std::exception& unexpected) {
                  spdlog::error("cannot renew {}: {}", Kind::kName,
                                base::plain_message(unexpected));
              }
          }) {}

    /// Follows the files of this configuration from now on. A file that has changed since `files`
    /// were read counts as a change.
    void follow(std::shared_ptr<const LoadedConfig> config, const WatchedFiles& files) {
        config_ = std::move(config);
        now_ = files.*Kind::kMember;
        watch();
        if (now_ && kind_.may_have_changed(*now_)) watch_.note_change();
    }

private:
    void watch() {
        std::vector<std::filesystem::path> files;
        if (now_) files = kind_.files(*config_, *now_);
        const auto watched = std::exchange(watches_, !files.empty());
        if (files.empty() && !watched) return;
        const auto error = watch_.watch(files);
        auto text = error ? base::watch_error_text(error) : std::string();
        if (text != trouble_ && error)
            spdlog::warn("{} a reload only, because {} cannot be watched: {}", Kind::kTakenBy,
                         Kind::kFolders, text);
        trouble_ = std::move(text);
    }
    void look() {
        if (!now_) return;
        watch();  // before the look, so that no change falls between them
        auto read = kind_.read(*config_, now_);
        for (const auto& error : read.news)
            spdlog::error("{}: {}", Kind::kNotRenewed, text_of(error));
        if (read.value) renewed_(now_, std::move(read));
    }
    static std::string text_of(const ConfigError& error) {
        return error.path.empty() ? error.message : error.path + ": " + error.message;
    }

    Kind kind_;
    RenewalHandler renewed_;
    base::DebouncedWatch watch_;
    std::shared_ptr<const LoadedConfig> config_;
    Value now_;             // in effect; null: there are none
    bool watches_ = false;  // some files
    std::string trouble_;   // with the watch, as logged
};

}  // namespace proxy
