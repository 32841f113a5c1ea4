#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/target_configs.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace {

void check_target_text(const std::string& where, const std::string& text) {
    if (!detail::is_utf8(text)) throw ConfigError(where, "is not UTF-8");
}

void check_interval(Duration interval) {
    if (interval <= Duration::zero()) throw ConfigError("interval", "must be longer than 0");
}

void check_limit(const char* field, std::size_t limit) {
    if (limit == 0) throw ConfigError(field, "must be greater than zero");
}

/// Prometheus allows "*" in the last part only, and requires one of its file extensions.
bool is_target_file_pattern(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return false;
    const std::string_view ending = path.substr(dot + 1);
    constexpr std::string_view endings[] = {"json", "yml", "yaml", "JSON", "YML", "YAML"};
    const bool known =
        std::find(std::begin(endings), std::end(endings), ending) != std::end(endings);
    const std::string_view stem = path.substr(0, dot);
    const std::size_t star = stem.find('*');
    if (star == std::string_view::npos) return known;
    const std::string_view behind = stem.substr(star + 1);
    return known && behind.find('/') == std::string_view::npos;
}

}  // namespace

void validate(const StaticConfig& config) {
    for (std::size_t i = 0; i < config.targets.size(); ++i) {
        check_target_text("targets[" + std::to_string(i) + "]", config.targets[i]);
    }
    for (const auto& [name, value] : config.labels) {
        if (name.empty()) throw ConfigError("labels", "a label has no name");
        check_target_text("labels", name);
        check_target_text("labels", value);
    }
}

void validate(const FileSdConfig& config) {
    if (config.files.empty()) throw ConfigError("files", "names no file");
    const bool by_extension = detail::rules_of(config.dialect).reads_target_files_by_extension;
    for (std::size_t i = 0; i < config.files.size(); ++i) {
        const std::string where = "files[" + std::to_string(i) + "]";
        const std::string& path = config.files[i];
        if (path.empty()) throw ConfigError(where, "is empty");
        if (path.size() > detail::max_file_path_size) {
            throw ConfigError(where, "is longer than " +
                                         std::to_string(detail::max_file_path_size) + " bytes");
        }
        check_target_text(where, path);
        if (path.find('\0') != std::string::npos) throw ConfigError(where, "is no path");
        if (by_extension && !is_target_file_pattern(path)) {
            throw ConfigError(
                where, "must end with .json, .yml or .yaml, and may have * in its last part");
        }
    }
    check_interval(config.interval);
    check_limit("max_files", config.max_files);
    check_limit("max_file_bytes", config.max_file_bytes);
    check_limit("max_bytes", config.max_bytes);
    check_limit("max_targets", config.max_targets);
}

void validate(const HttpSdConfig& config) {
    detail::check_auth("auth", config.auth);
    detail::check_headers("headers", config.headers);
    detail::check_tls("tls", config.tls);
    detail::check_tls_versions("tls", config.tls);
    detail::check_tls_versions("auth", config.auth);
    detail::check_proxy("proxy", config.proxy);
    if (config.url.empty()) throw ConfigError("url", "is missing");
    try {
        detail::parse_list_url(config.url);
    } catch (const ConfigError& e) {
        throw ConfigError("url", e.problem() + "; allowed is http[s]://host:port/path?query");
    }
    check_target_text("url", config.url);
    check_interval(config.interval);
    check_limit("max_bytes", config.max_bytes);
    check_limit("max_targets", config.max_targets);
}

}  // namespace k8s_sd::inline v0
