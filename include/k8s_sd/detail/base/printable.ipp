#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/utf8.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

// The start of the text, not longer than that and not cut inside a character.
std::string_view start_of(std::string_view text, std::size_t longest) noexcept {
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while (end + 3 > longest && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 400;
    std::string out;
    for_each_utf8_part(start_of(text, longest), [&](std::string_view part) {
        for (const char c : part) {
            if (!is_control(c)) {
                out += c;
            } else if (!out.empty() && out.back() != ' ') {
                out += ' ';
            }
        }
    });
    const bool cut = text.size() > longest || out.size() > longest;
    out.resize(start_of(out, longest).size());
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return cut ? out + "…" : out;
}

}  // namespace k8s_sd::inline v0::detail
