#include "metrics_text.hpp"

#include <algorithm>
#include <string_view>

namespace k8s_sd_c {

namespace {

struct Family {
    std::string_view name;
    std::string_view help;  ///< the line
    std::string_view type;  ///< the line
    std::string samples;
};

/// The name in a line such as "# TYPE name counter".
std::string_view name_in(std::string_view comment) {
    comment.remove_prefix(std::string_view("# TYPE ").size());
    return comment.substr(0, comment.find(' '));
}

Family& family_of(std::vector<Family>& families, std::string_view comment) {
    const std::string_view name = name_in(comment);
    const auto it = std::find_if(families.begin(), families.end(),
                                 [&](const Family& family) { return family.name == name; });
    return it != families.end() ? *it : families.emplace_back(Family{name, {}, {}, {}});
}

void add(std::vector<Family>& families, std::string_view text) {
    Family* family = nullptr;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n') + 1);
        if (line.empty()) return;
        text.remove_prefix(line.size());
        if (line.starts_with("# ")) {
            family = &family_of(families, line);
            (line.starts_with("# HELP") ? family->help : family->type) = line;
        } else if (family) {
            family->samples += line;
        }
    }
}

}  // namespace

std::string join_metrics(const std::vector<std::string>& texts) {
    std::vector<Family> families;
    for (const std::string& text : texts) add(families, text);
    std::string joined;
    for (const Family& family : families) {
        ((joined += family.help) += family.type) += family.samples;
    }
    return joined;
}

}  // namespace k8s_sd_c
