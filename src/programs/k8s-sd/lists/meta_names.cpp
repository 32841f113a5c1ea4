#include "lists/meta_names.hpp"

#include "cli/option_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace k8s_sd_program {

namespace {

constexpr std::size_t max_patterns = 64;
constexpr std::size_t max_bytes = 2048;

/// The names read by prom_to_otlp.go of the receiver.
constexpr std::array otel_names = {"__meta_kubernetes_endpoint_node_name",
                                   "__meta_kubernetes_namespace",
                                   "__meta_kubernetes_node_name",
                                   "__meta_kubernetes_pod_container_name",
                                   "__meta_kubernetes_pod_controller_kind",
                                   "__meta_kubernetes_pod_controller_name",
                                   "__meta_kubernetes_pod_name",
                                   "__meta_kubernetes_pod_node_name",
                                   "__meta_kubernetes_pod_uid"};

bool can_be_in_pattern(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '*';
}

/// Whether the text has at most one `*`, and can match a name with the prefix.
bool is_pattern(std::string_view text) {
    const std::size_t star = text.find('*');
    const std::string_view begin = text.substr(0, star);
    const bool begins_so =
        begin.starts_with(meta_prefix) || (begin != text && meta_prefix.starts_with(begin));
    return begins_so && star == text.rfind('*') &&
           std::all_of(text.begin(), text.end(), can_be_in_pattern);
}

bool matches(std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return name == pattern;
    return name.size() >= pattern.size() - 1 && name.starts_with(pattern.substr(0, star)) &&
           name.ends_with(pattern.substr(star + 1));
}

std::string joined(const std::vector<std::string>& patterns) {
    std::string text;
    for (const std::string& pattern : patterns) (text += text.empty() ? "" : ",") += pattern;
    return text;
}

}  // namespace

MetaNames::MetaNames(std::string_view text) {
    if (text == "otel") {
        patterns_.assign(otel_names.begin(), otel_names.end());
        return;
    }
    if (text.size() > max_bytes) {
        throw cli::UsageError("the names are longer than " + std::to_string(max_bytes) +
                              " bytes together; * stands for many");
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view pattern = text.substr(begin, end - begin);
        if (!is_pattern(pattern)) {
            throw cli::UsageError("\"" + std::string(pattern) +
                                  "\" is not allowed; allowed are otel, or names that begin "
                                  "with __meta_, separated by commas, each with one * for any "
                                  "characters at most");
        }
        patterns_.emplace_back(pattern);
        begin = end + 1;
    }
    std::sort(patterns_.begin(), patterns_.end());
    patterns_.erase(std::unique(patterns_.begin(), patterns_.end()), patterns_.end());
    if (patterns_.size() > max_patterns) {
        throw cli::UsageError("there can be " + std::to_string(max_patterns) +
                              " names at most; * stands for many");
    }
}

bool MetaNames::match(std::string_view name) const {
    return name.starts_with(meta_prefix) &&
           std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const std::string& pattern) { return matches(pattern, name); });
}

std::string MetaNames::text() const {
    if (std::equal(patterns_.begin(), patterns_.end(), otel_names.begin(), otel_names.end())) {
        return "otel";
    }
    return joined(patterns_);
}

UnusedNames::UnusedNames(const MetaNames& names) {
    if (names.text() != "otel") patterns_ = names.patterns_;
}

void UnusedNames::saw(std::string_view name) {
    std::erase_if(patterns_, [&](const std::string& pattern) { return matches(pattern, name); });
}

std::string UnusedNames::text() const { return joined(patterns_); }

}  // namespace k8s_sd_program
