#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

namespace cli {

namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool knows_escapes() { return !variable("TERM").empty() && variable("TERM") != "dumb"; }

}  // namespace

const Choices<Colours>& colour_choices() {
    static const Choices<Colours> all{
        {"auto", Colours::automatic}, {"always", Colours::always}, {"never", Colours::never}};
    return all;
}

Terminal::Terminal(int descriptor, Colours colours)
    : descriptor_(descriptor),
      terminal_(::isatty(descriptor) == 1),
      cursor_(terminal_ && knows_escapes()),
      colours_(colours == Colours::always ||
               (colours == Colours::automatic && cursor_ && variable("NO_COLOR").empty())) {}

std::size_t Terminal::width() const noexcept {
    winsize size{};
    // A window of size 0 is one of unknown size.
    if (!terminal_ || ::ioctl(descriptor_, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

}  // namespace cli
