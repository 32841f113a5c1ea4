#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/detail/relabel/relabel_rule_reader.hpp"
#include "k8s_sd/detail/scrape/scrape_config_keys.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using detail::YamlValue;
using std::chrono::milliseconds;
using Keys = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> top_level_keys{"global", "scrape_configs"};
constexpr std::array<std::string_view, 8> global_keys{"scrape_interval",
                                                      "scrape_timeout",
                                                      "target_limit",
                                                      "keep_dropped_targets",
                                                      "metric_name_validation_scheme",
                                                      "convert_classic_histograms_to_nhcb",
                                                      "always_scrape_classic_histograms",
                                                      "scrape_native_histograms"};
constexpr std::array<std::string_view, 7> job_keys{"job_name",
                                                   "scheme",
                                                   "metrics_path",
                                                   "params",
                                                   "relabel_configs",
                                                   "metric_relabel_configs",
                                                   "kubernetes_sd_configs"};

bool contains(Keys keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// nullopt where the key is missing or the duration not above 0, which means the same.
std::optional<milliseconds> read_duration(const YamlValue& value, LabelDialect dialect) {
    if (value.is_null()) return std::nullopt;
    try {
        const milliseconds duration = parse_duration(value.string(), dialect);
        return duration.count() <= 0 ? std::nullopt : std::optional(duration);
    } catch (const ConfigError& e) {
        value.fail(e.problem());
    }
}

NameValidation read_name_validation(const YamlValue& value) {
    const std::string text = value.string();
    if (text == "utf8") return NameValidation::utf8;
    if (text == "legacy") return NameValidation::legacy;
    value.fail("must be utf8 or legacy");
}

std::map<std::string, std::vector<std::string>> read_params(const YamlValue& value) {
    std::map<std::string, std::vector<std::string>> params;
    for (const auto& [name, values] : value.entries()) {
        for (const YamlValue& item : values.items()) params[name].push_back(item.string());
    }
    return params;
}

/// Reads a file from the outside in; each job begins as a copy of what `global` says.
class ScrapeConfigReader {
 public:
    ScrapeConfigReader(const ScrapeConfigOptions& options, std::string file_name)
        : options_(options), file_name_(std::move(file_name)) {
        defaults_.dialect = options.dialect;
    }

    ScrapeConfigFile read(const YamlValue& document) {
        check_keys(document, {top_level_keys}, detail::unused_top_level_keys);
        if (document.has("scrape_config_files")) {
            // Ignoring it would silently lose jobs.
            document["scrape_config_files"].fail(
                "is not supported yet; put the jobs into scrape_configs");
        }
        read_global(document["global"]);
        for (const YamlValue& job : document["scrape_configs"].items()) read_job(job);
        return std::move(file_);
    }

 private:
    void read_global(const YamlValue& global) {
        for (const char* key : {"relabel_configs", "metric_relabel_configs"}) {
            if (global.has(key)) global[key].fail("is supported in scrape_configs only");
        }
        check_keys(global, {global_keys}, detail::unused_global_keys);
        read_shared(global, defaults_);
    }

    void read_job(const YamlValue& value) {
        if (value.is_null()) value.fail("an entry must not be empty");
        check_keys(value, {job_keys, global_keys}, detail::unused_job_keys);
        ScrapeJob job{defaults_, {}};
        job.scrape.job_name = read_name(value["job_name"]);
        job.discovery.name = job.scrape.job_name;
        const auto text = [&](const char* key, std::string& target) {
            if (!value[key].is_empty()) target = value[key].string();
        };
        text("scheme", job.scrape.scheme);
        text("metrics_path", job.scrape.metrics_path);
        job.scrape.params = read_params(value["params"]);
        read_shared(value, job.scrape);
        job.scrape.relabel_configs = read_rules(value["relabel_configs"], job.scrape);
        job.scrape.metric_relabel_configs = read_rules(value["metric_relabel_configs"], job.scrape);
        for (const YamlValue& entry : value["kubernetes_sd_configs"].items()) {
            if (entry.is_null()) entry.fail("an entry must not be empty");
            job.discovery.configs.push_back(
                detail::read_sd_config(entry, options_.dialect, file_name_));
        }
        check(value, job.scrape);
        file_.jobs.push_back(std::move(job));
    }

    std::string read_name(const YamlValue& value) const {
        std::string name = value.string();
        if (name.empty()) value.fail("is missing");
        for (const ScrapeJob& other : file_.jobs) {
            if (other.scrape.job_name == name) value.fail("another job has this name");
        }
        return name;
    }

    /// What `global` and a job have in common.
    static void read_shared(const YamlValue& value, ScrapeConfig& config) {
        read_times(value, config);
        const auto number = [&](const char* key, std::size_t& target) {
            if (!value[key].is_null()) target = value[key].unsigned_integer();
        };
        const auto flag = [&](const char* key, bool& target) {
            if (!value[key].is_null()) target = value[key].boolean();
        };
        number("target_limit", config.target_limit);
        number("keep_dropped_targets", config.keep_dropped_targets);
        flag("convert_classic_histograms_to_nhcb", config.convert_classic_histograms_to_nhcb);
        flag("always_scrape_classic_histograms", config.always_scrape_classic_histograms);
        flag("scrape_native_histograms", config.scrape_native_histograms);
        if (const YamlValue scheme = value["metric_name_validation_scheme"]; !scheme.is_empty()) {
            config.metric_name_validation_scheme = read_name_validation(scheme);
        }
    }

    /// A timeout that nobody has written is cut to the interval.
    static void read_times(const YamlValue& value, ScrapeConfig& config) {
        if (const auto interval = read_duration(value["scrape_interval"], config.dialect)) {
            config.scrape_interval = *interval;
        }
        const auto timeout = read_duration(value["scrape_timeout"], config.dialect);
        const bool too_long = timeout && *timeout > config.scrape_interval;
        if (too_long && detail::rules_of(config.dialect).refuses_timeout_above_interval) {
            value["scrape_timeout"].fail("must not be longer than scrape_interval (" +
                                         format_duration(config.scrape_interval) + ")");
        }
        const milliseconds wanted =
            timeout.value_or(config.scrape_timeout.value_or(std::chrono::seconds(10)));
        config.scrape_timeout = std::min(wanted, config.scrape_interval);
    }

    static std::vector<RelabelRule> read_rules(const YamlValue& list, const ScrapeConfig& config) {
        return detail::read_relabel_rules(list, relabel_options(config));
    }

    static void check(const YamlValue& job, const ScrapeConfig& config) {
        try {
            validate(config);
        } catch (const ConfigError& e) {
            job[e.where()].fail(e.problem());
        }
    }

    /// Notes, or in strict mode refuses, keys without use; fails for those nobody knows.
    void check_keys(const YamlValue& mapping, std::initializer_list<Keys> used, Keys unused) {
        std::vector<std::string_view> known;
        for (const Keys keys : used) known.insert(known.end(), keys.begin(), keys.end());
        const std::size_t used_count = known.size();
        known.insert(known.end(), unused.begin(), unused.end());
        const Keys all_used = Keys(known).first(used_count);
        mapping.allow_only(known, all_used);
        for (const auto& [key, value] : mapping.entries()) {
            if (contains(all_used, key)) continue;
            const char* text = "is not about Kubernetes discovery, relabelling or targets";
            if (options_.strict) value.fail(std::string(text) + ", which strict mode refuses");
            file_.notes.push_back({value.where(), std::string(text) + ": ignored"});
        }
    }

    ScrapeConfigOptions options_;
    std::string file_name_;
    ScrapeConfig defaults_;
    ScrapeConfigFile file_;
};

}  // namespace

std::vector<Job> ScrapeConfigFile::discovery_jobs() const {
    std::vector<Job> result;
    for (const ScrapeJob& job : jobs) result.push_back(job.discovery);
    return result;
}

ScrapeConfigFile parse_scrape_configs(std::string_view yaml, const ScrapeConfigOptions& options,
                                      const std::string& file_name) {
    return ScrapeConfigReader(options, file_name).read(YamlValue::parse(yaml, file_name));
}

ScrapeConfigFile load_scrape_configs(const std::string& path, const ScrapeConfigOptions& options) {
    return parse_scrape_configs(detail::read_config_file(path, path), options, path);
}

}  // namespace k8s_sd::inline v0
