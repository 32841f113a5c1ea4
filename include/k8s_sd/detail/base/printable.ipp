#include "k8s_sd/detail/base/printable.hpp"

namespace k8s_sd::inline v0::detail {

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 400;
    std::string out;
    for (const char c : text.substr(0, longest)) {
        if (!is_control(c)) {
            out += c;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return text.size() > longest ? out + "…" : out;
}

}  // namespace k8s_sd::inline v0::detail
