#include "app/import/source.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include "app/import/lexers.hpp"
#include "measure/trace/printable.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20, kMostFiles = 256, kMostDepth = 8;
/// Files of the packages of nginx that say nothing about sites or access.
constexpr std::array<std::string_view, 8> kKnownFiles{
    "mime.types",  "proxy_params", "fastcgi_params",         "uwsgi_params",
    "scgi_params", "fastcgi.conf", "options-ssl-nginx.conf", "modules-enabled/*.conf"};

std::optional<std::string> read_file_here(const std::string& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) && path != "/dev/stdin") return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string text(most + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return std::nullopt;
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) return std::nullopt;
    return text;
}

std::vector<std::string> find_files_here(const std::string& pattern) {
    std::vector<std::string> found;
    glob_t matches{};
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
        for (std::size_t i = 0; i < matches.gl_pathc && i <= kMostFiles; ++i)
            found.emplace_back(matches.gl_pathv[i]);
    ::globfree(&matches);
    return found;
}

/// The paths that an included name may mean, in the order to try them.
std::vector<std::string> meanings(const fs::path& folder, const std::string& name) {
    std::vector<std::string> paths;
    if (name.starts_with('/')) {
        paths.push_back(name);
        for (const std::string_view etc : {"/etc/squid/", "/etc/squid3/", "/etc/nginx/",
                                           "/usr/local/nginx/conf/", "/usr/local/etc/nginx/"})
            if (name.starts_with(etc)) paths.push_back((folder / name.substr(etc.size())).string());
    } else {
        paths.push_back((folder / name).string());
    }
    return paths;
}

class SourceReader {
public:
    SourceReader(const std::string& path, std::optional<SourceFormat>& format,
                 const SourceFiles& files)
        : folder_(fs::path(path).parent_path()), format_(format), files_(files) {}

    Lexed run(const std::string& path) {
        auto text = files_.read(path, kMostBytes);
        if (!text) {
            Lexed out;
            out.error = measure::printable(path) + ": cannot be read";
            return out;
        }
        if (!format_) format_ = guess_format(*text);
        if (!format_) {
            Lexed out;
            out.has_format = false;
            out.error = measure::printable(path) +
                        ": no directive of Squid or nginx is in it; --format names the format";
            return out;
        }
        return read(*text, path, 0);
    }

private:
    Lexed read(const std::string& text, const std::string& path, std::size_t depth) {
        bytes_ += text.size();
        const auto name =
            measure::printable(depth == 0 ? fs::path(path).filename().string() : path);
        auto lexed =
            *format_ == SourceFormat::squid ? lex_squid(text, name) : lex_nginx(text, name);
        if (lexed.error.empty()) follow(lexed.directives, depth, lexed.error);
        return lexed;
    }

    /// Puts what the directives include in their place.
    void follow(std::vector<Directive>& directives, std::size_t depth, std::string& error) {
        std::vector<Directive> out;
        for (auto& directive : directives) {
            if (!error.empty()) return;
            follow(directive.block, depth, error);
            if (directive.name != "include") {
                out.push_back(std::move(directive));
                continue;
            }
            for (const auto& word : directive.words)
                if (error.empty()) include(directive, word.text, depth, out, error);
        }
        directives = std::move(out);
    }

    void include(const Directive& at, const std::string& name, std::size_t depth,
                 std::vector<Directive>& out, std::string& error) {
        const auto paths = meanings(folder_, name);
        std::vector<std::string> found;
        for (const auto& path : paths)
            if (found.empty()) found = files_.find(path);
        const auto is_known =
            std::any_of(kKnownFiles.begin(), kKnownFiles.end(),
                        [&](std::string_view known) { return name.ends_with(known); });
        if (found.empty() && !is_known && name.find_first_of("*?[") == std::string::npos)
            error = fmt::format("{}: cannot find {}: copy it beside the file, or take the line out",
                                at.place, measure::printable(name));
        if (is_known && *format_ == SourceFormat::nginx) return;
        for (const auto& path : found) {
            if (depth + 1 >= kMostDepth || ++count_ > kMostFiles) {
                error = fmt::format(
                    "{}: includes more than {} files, or more than {} inside each "
                    "other",
                    at.place, kMostFiles, kMostDepth);
                return;
            }
            const auto text = files_.read(path, kMostBytes - std::min(bytes_, kMostBytes));
            if (!text) {
                error = fmt::format("{}: cannot read {}, or all files together exceed {} MiB",
                                    at.place, measure::printable(path), kMostBytes >> 20);
                return;
            }
            auto lexed = read(*text, path, depth + 1);
            error = std::move(lexed.error);
            if (!error.empty()) return;
            for (auto& each : lexed.directives) out.push_back(std::move(each));
        }
    }

    const fs::path folder_;
    std::optional<SourceFormat>& format_;
    const SourceFiles& files_;
    std::size_t bytes_ = 0, count_ = 0;
};

}  // namespace

namespace {

bool has_any(const std::vector<Directive>& directives, std::span<const std::string_view> names) {
    return std::any_of(directives.begin(), directives.end(), [&](const Directive& each) {
        return std::find(names.begin(), names.end(), each.name) != names.end();
    });
}

}  // namespace

SourceFiles files_here() {
    return {read_file_here, find_files_here};
}

std::optional<SourceFormat> guess_format(std::string_view text) {
    constexpr std::array<std::string_view, 12> kOfNginx{
        "events", "http",   "server",     "location",         "upstream",    "map",
        "geo",    "stream", "proxy_pass", "proxy_cache_path", "proxy_cache", "server_name"};
    // A file that only includes others is nginx's if its lines end as they do there.
    const auto as_nginx = lex_nginx(text, {});
    if (as_nginx.error.empty() && has_any(as_nginx.directives, kOfNginx))
        return SourceFormat::nginx;
    constexpr std::array<std::string_view, 22> kOfSquid{
        "http_port",       "https_port",          "http_access",      "acl",
        "cache_dir",       "cache_mem",           "cache_peer",       "cache_peer_access",
        "icp_port",        "refresh_pattern",     "auth_param",       "cache",
        "coredump_dir",    "access_log",          "cache_access_log", "visible_hostname",
        "never_direct",    "always_direct",       "delay_pools",      "maximum_object_size",
        "dns_nameservers", "cache_effective_user"};
    const auto as_squid = lex_squid(text, {});
    if (as_squid.error.empty() && has_any(as_squid.directives, kOfSquid))
        return SourceFormat::squid;
    constexpr std::array<std::string_view, 1> kOfBoth{"include"};
    if (as_nginx.error.empty() && has_any(as_nginx.directives, kOfBoth)) return SourceFormat::nginx;
    if (as_squid.error.empty() && has_any(as_squid.directives, kOfBoth)) return SourceFormat::squid;
    return std::nullopt;
}

Lexed read_source(const std::string& path, std::optional<SourceFormat>& format,
                  const SourceFiles& files) {
    return SourceReader(path, format, files).run(path);
}

std::optional<std::string> read_beside(const std::string& path, const std::string& name,
                                       const SourceFiles& files) {
    for (const auto& meant : meanings(fs::path(path).parent_path(), name))
        if (auto text = files.read(meant, kMostBytes)) return text;
    return std::nullopt;
}

}  // namespace app
