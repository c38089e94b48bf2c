#include "app/disk_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command_line.hpp"
#include "measure/report/numbers.hpp"
#include "measure/report/progress.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/disk/survey.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/http_date.hpp"

namespace app {
namespace {

using proxy::DiskSurvey;
using proxy::DiskTime;
using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr const char* kDiskFooter =
    R"(Each PATH is a directory of cache.disk of a stopped node, or one file (*.segment) of any node. The
command only reads. It counts responses that were purged by URL, because only the node knows that
they are invalid.

  hearsay disk /var/cache/hearsay --check

Exit codes: 0; 1 if a PATH is unreadable, if --check finds damage, or if no PATH has the --url; 2
usage.)";

constexpr std::chrono::seconds kReportAfter{2};

std::string date_text(DiskTime time) {
    return proxy::rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

/// `3.2 h`: in the largest unit of which it is at least one.
std::string age_text(milliseconds age) {
    constexpr struct {
        const char* name;
        double seconds;
    } kUnits[] = {{"d", 86'400}, {"h", 3'600}, {"min", 60}};
    const auto seconds = std::chrono::duration<double>(age).count();
    for (const auto& unit : kUnits)
        if (seconds >= unit.seconds)
            return fmt::format("{:.1f} {}", seconds / unit.seconds, unit.name);
    return fmt::format("{:.1f} s", seconds);
}

/// `1,234 (56.7 %)`
std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{} ({:.1f} %)", measure::grouped(part), 100 * measure::ratio(part, whole));
}

std::string place_text(const std::filesystem::path& file, std::uint64_t offset) {
    const auto name = file.filename().string();
    return offset == 0 ? name : fmt::format("{} at {}", name, offset);
}

std::uint64_t objects_of(const DiskSurvey& s) {
    return s.records.responses + s.records.blocks;
}

void print_contents(const DiskSurvey& s, DiskTime now) {
    fmt::print("files     {}, {}", measure::grouped(s.files.count),
               measure::size_text(static_cast<double>(s.files.bytes)));
    for (const auto& [count, what] : {std::pair{s.files.unsealed, "not sealed"},
                                      {s.files.empty, "not begun"},
                                      {s.files.damaged, "damaged"},
                                      {s.files.unreadable, "unreadable"}})
        if (count > 0) fmt::print(", {} {}", measure::grouped(count), what);
    const auto objects = objects_of(s);
    fmt::print("\nobjects   {}: {}, {} of large bodies; they take {}\n", measure::grouped(objects),
               measure::amount(s.records.responses, "response"),
               measure::amount(s.records.blocks, "block"),
               fmt::format("{} ({:.1f} % of the files)",
                           measure::size_text(static_cast<double>(s.records.live_bytes)),
                           100 * measure::ratio(s.records.live_bytes, s.files.bytes)));
    if (objects > 0) {
        fmt::print("stored    {} to {} ago, half of them less than {}\n",
                   age_text(now - s.records.newest), age_text(now - s.records.oldest),
                   age_text(now - s.records.median));
        fmt::print("expired   {}\n", share_text(s.records.expired, objects));
        fmt::print("tags      {} on {}\n", measure::amount(s.records.tags, "tag"),
                   measure::amount(s.records.tagged, "response"));
    }
    fmt::print(
        "besides   {} that later ones replaced, {} purged (by tag, with their URL as blocks, or "
        "all at once), {}\n",
        measure::grouped(s.records.superseded), measure::grouped(s.records.purged),
        measure::amount(s.records.tombstones, "tombstone"));
}

void print_finds(const DiskSurvey& s, const std::string& url, DiskTime now) {
    fmt::print("{}: {}\n", url,
               s.finds.empty() ? "not there" : measure::amount(s.finds.size(), "record"));
    for (const auto& each : s.finds) {
        // The record of a body in blocks is its index, a head alone.
        const auto is_index = each.body_bytes == 0 && s.block_finds > 0;
        fmt::print("  {}: {}, {}, stored {} ({} ago), {} {}{}{}\n",
                   place_text(each.file, each.offset),
                   each.status_line.empty() ? "unreadable" : measure::printable(each.status_line),
                   is_index ? "index of a body in blocks"
                            : "body of " + measure::amount(each.body_bytes, "byte"),
                   date_text(each.stored), age_text(now - each.stored),
                   each.expires < now ? "expired" : "expires", date_text(each.expires),
                   each.vary.empty() ? "" : ", varies by " + measure::printable(each.vary),
                   each.current ? "" : ", replaced or purged");
    }
    if (s.block_finds > 0)
        fmt::print("  and {} of its body, {}\n", measure::amount(s.block_finds, "block"),
                   measure::amount(s.block_bytes, "byte"));
}

void print_faults(const DiskSurvey& s) {
    for (const auto& each : s.faults)
        fmt::print("damaged   {}: {}{}\n", place_text(each.file, each.offset), each.why,
                   each.uri.empty() ? "" : " (" + measure::printable(each.uri) + ")");
    if (s.fault_count > s.faults.size())
        fmt::print("damaged   and {} more\n", measure::grouped(s.fault_count - s.faults.size()));
}

Json json_of(const DiskSurvey& s, const std::string& place, const DiskCommand& command) {
    Json out{{"path", place},
             {"files", s.files.count},
             {"file_bytes", s.files.bytes},
             {"unsealed", s.files.unsealed},
             {"torn", s.files.torn},
             {"empty", s.files.empty},
             {"damaged", s.files.damaged},
             {"unreadable", s.files.unreadable},
             {"responses", s.records.responses},
             {"blocks", s.records.blocks},
             {"live_bytes", s.records.live_bytes},
             {"expired", s.records.expired},
             {"tagged", s.records.tagged},
             {"tags", s.records.tags},
             {"superseded", s.records.superseded},
             {"purged", s.records.purged},
             {"tombstones", s.records.tombstones}};
    if (objects_of(s) > 0)
        out["stored"] = {{"oldest", date_text(s.records.oldest)},
                         {"median", date_text(s.records.median)},
                         {"newest", date_text(s.records.newest)}};
    if (!command.url.empty()) {
        auto records = Json::array();
        for (const auto& each : s.finds)
            records.push_back({{"file", each.file.filename().string()},
                               {"offset", each.offset},
                               {"bytes", each.bytes},
                               {"status_line", each.status_line},
                               {"body_bytes", each.body_bytes},
                               {"stored", date_text(each.stored)},
                               {"expires", date_text(each.expires)},
                               {"vary", each.vary},
                               {"current", each.current}});
        out["url"] = {{"url", command.url},
                      {"records", std::move(records)},
                      {"blocks", s.block_finds},
                      {"block_bytes", s.block_bytes}};
    }
    auto faults = Json::array();
    for (const auto& each : s.faults)
        faults.push_back({{"file", each.file.filename().string()},
                          {"offset", each.offset},
                          {"uri", each.uri},
                          {"why", each.why}});
    out["fault_count"] = s.fault_count;
    out["faults"] = std::move(faults);
    if (command.check) out["proved"] = s.proved;
    return out;
}

int refuse(const std::string& place, std::string_view why) {
    fmt::print(stderr, "hearsay: {}: {}\n", place, why);
    return kFailed;
}

std::string why_not(const boost::system::error_code& error) {
    if (error == proxy::DiskError::in_use)
        return "a node works with it: stop that, or look at one of its files (*.segment)";
    if (error == proxy::DiskError::foreign)
        return "there is no cache: name a directory of cache.disk, or one of its files (*.segment)";
    return error.message();
}

/// The results of all places together.
struct SurveyTotals {
    int code = kOk;
    bool is_there = false;  // some place has the URL
    Json pages = Json::array();
};

void look_at(const std::string& place, proxy::SurveyOrder& order, const DiskCommand& command,
             SurveyTotals& out) {
    measure::Progress progress(command.quiet);
    const auto begun = std::chrono::steady_clock::now();
    order.progress = [&](std::uint64_t done, std::uint64_t all) {
        if (std::chrono::steady_clock::now() - begun < kReportAfter) return;
        progress.update(
            fmt::format("reading {}: {:.0f} %", place, 100 * measure::ratio(done, all)));
    };
    const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    const auto found = proxy::survey(place, order, now);
    order.progress = {};
    progress.clear();
    if (!found) {
        out.code = refuse(place, why_not(found.error()));
        return;
    }
    std::error_code ignored;
    if (found->files.unreadable > 0 && !std::filesystem::is_directory(place, ignored)) {
        const auto why = found->faults.empty() ? "" : ": " + found->faults.front().why;
        out.code = refuse(place, "is no file of a cache (*.segment)" + why);
        return;
    }
    const auto many = command.places.size() > 1;
    if (command.json) {
        out.pages.push_back(json_of(*found, place, command));
    } else {
        if (many) fmt::print("{}{}:\n", place == command.places.front() ? "" : "\n", place);
        if (command.url.empty())
            print_contents(*found, now);
        else
            print_finds(*found, measure::printable(command.url), now);
        print_faults(*found);
        if (command.check && found->fault_count == 0)
            fmt::print("checked   {}: every checksum agrees\n",
                       measure::amount(found->proved, "record"));
    }
    if ((command.check && found->fault_count > 0) || found->files.unreadable > 0)
        out.code = kFailed;
    out.is_there = out.is_there || !found->finds.empty();
}

}  // namespace

Command add_disk(CLI::App& app) {
    auto& command = *app.add_subcommand("disk", "Shows the content of a stopped cache's disk");
    const auto disk = std::make_shared<DiskCommand>();
    command.footer(kDiskFooter);
    option(command, "path", "PATH...", disk->places,
           "Directories of cache.disk, or single segment files")
        ->required();
    option(command, "--url", "URL", disk->url,
           "Lists all variants of this URL: place, time of storage, end of freshness");
    command.add_flag("--check", disk->check, "Reads all records and verifies every checksum");
    command.add_flag("--json", disk->json, "Prints JSON");
    command.add_flag("--quiet", disk->quiet, "Hides the progress");
    return {&command, [disk] { return disk_command(*disk); }};
}

int disk_command(const DiskCommand& command) {
    proxy::SurveyOrder order;
    order.reads_all = command.check;
    if (!command.url.empty()) {
        proxy::CacheKey key;
        if (const auto error = key.assign_url(command.url); error != proxy::TargetError::none) {
            fmt::print(stderr, "hearsay: {} is no URL ({}); write it like http://host/path\n",
                       command.url, proxy::to_string(error));
            return kUsage;
        }
        order.url = key.uri();
    }
    SurveyTotals looked;
    for (const auto& place : command.places) look_at(place, order, command, looked);
    if (command.json && !looked.pages.empty()) {
        const auto& page = command.places.size() == 1 ? looked.pages.front() : looked.pages;
        fmt::print("{}\n", page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
    }
    if (looked.code != kOk) return looked.code;
    return !command.url.empty() && !looked.is_there ? kFailed : kOk;
}

}  // namespace app
