#include "app/top_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/terminal.hpp"
#include "app/top_reader.hpp"
#include "app/top_view.hpp"

namespace app {
namespace {

constexpr std::chrono::seconds kFirstTimeout{3};
constexpr std::size_t kPlainColumns = 160;  // of a picture in a file or a pipe

std::string time_of_day() {
    const auto now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

/// The numbers on the screen, and since when they are old.
struct TopShown {
    TopData data;
    TopRates rates;
    std::string silent_since;  // time of day; empty while the node answers
    std::string trouble;

    void take(TopReading reading) {
        if (!reading.data) {
            if (silent_since.empty()) silent_since = time_of_day();
            trouble = fmt::format("NO ANSWER since {}, the numbers are old: {}", silent_since,
                                  reading.why);
            return;
        }
        silent_since.clear();
        trouble.clear();
        data = std::move(*reading.data);
        rates.see(data, TopRates::Clock::now());
    }
};

/// Draws until the user ends it. Returns false if the terminal has gone.
bool draw_until_end(Terminal& terminal, TopReader& reader, TopShown& shown, bool color) {
    std::vector<std::string> lines;
    bool anew = true;
    for (;;) {
        auto size = terminal.size();
        size.color = color;
        auto next = top_lines(shown.data, size, shown.trouble);
        if (!terminal.write(top_frame(lines, next, std::exchange(anew, false)))) return false;
        lines = std::move(next);
        const auto event = terminal.wait(reader.descriptor());
        if (event == Terminal::Event::end) return true;
        if (event == Terminal::Event::resized) anew = true;
        if (event != Terminal::Event::ready) continue;
        if (auto reading = reader.take()) shown.take(std::move(*reading));
    }
}

bool show_screen(AdminPort port, TopReading first, bool color) {
    TopShown shown;
    shown.take(std::move(first));
    // The terminal comes first, because the reader's thread has to inherit the blocked signals. It
    // ends first, because the reader may wait for a silent node.
    std::optional<Terminal> terminal(std::in_place);
    TopReader reader(std::move(port));
    const bool good = draw_until_end(*terminal, reader, shown, color);
    terminal.reset();
    return good;
}

}  // namespace

Command add_top(CLI::App& app) {
    auto& command = *app.add_subcommand(
        "top", "Shows all nodes of a cluster as one of them knows it, anew each second; q ends it");
    const auto node = std::make_shared<NodeChoice>();
    add_node_options(command, "--at", *node);
    command.footer(command.get_footer() +
                   "\n\nWithout a terminal it prints one picture and ends. Exit codes: 0; 1 if the "
                   "node does not answer\nat first; 2 usage; 78 bad configuration.");
    return {&command, [node] { return top_command(*node); }};
}

int top_command(const NodeChoice& choice) {
    return reported([&] {
        std::string why;
        auto admin = admin_of(choice, why);
        if (!admin) return fail(kBadConfig, "{}", why);
        auto first = read_top(*admin, kFirstTimeout, address_hint(choice, "--at, or --config"));
        if (!first.data) return fail(kFailed, "{}", first.why);
        if (!Terminal::is_there()) {
            TopSize size;
            size.columns = kPlainColumns;
            for (const auto& line : top_lines(*first.data, size)) fmt::print("{}\n", line);
            return kOk;
        }
        const auto* no_color = std::getenv("NO_COLOR");
        const bool color = no_color == nullptr || *no_color == '\0';
        return show_screen(std::move(*admin), std::move(first), color) ? kOk : kFailed;
    });
}

}  // namespace app
