#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/config/variables.hpp"
#include "k8s_sd/detail/config/yaml/json_document.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/relabel/relabel_rule_reader.hpp"
#include "k8s_sd/detail/scrape/handed_keys.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"
#include "k8s_sd/detail/scrape/scrape_config_reader.hpp"
#include "k8s_sd/detail/scrape/scrape_job_reader.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using detail::KnownKeys;
using detail::Mistakes;
using detail::YamlValue;
using std::chrono::milliseconds;

/// Keys of `global` and of jobs.
constexpr std::string_view shared_keys[] = {"scrape_interval",
                                            "scrape_timeout",
                                            "target_limit",
                                            "keep_dropped_targets",
                                            "metric_name_validation_scheme",
                                            "convert_classic_histograms_to_nhcb",
                                            "always_scrape_classic_histograms",
                                            "scrape_native_histograms"};
constexpr std::string_view rule_keys[] = {"relabel_configs", "metric_relabel_configs"};

KnownKeys make_top_level_keys() {
    return {.used = {"global", "scrape_configs", "scrape_config_files"},
            .handed = detail::handed_top_level_keys};
}

KnownKeys make_global_keys() {
    KnownKeys keys{.handed = detail::handed_global_keys};
    keys.used.assign(std::begin(shared_keys), std::end(shared_keys));
    keys.used.insert(keys.used.end(), std::begin(rule_keys), std::end(rule_keys));
    return keys;
}

KnownKeys make_job_keys() {
    KnownKeys keys{.used = {"job_name", "scheme", "metrics_path", "params", "relabel_configs",
                            "metric_relabel_configs", "kubernetes_sd_configs"},
                   .handed = detail::handed_job_keys,
                   .has_discovery = true};
    keys.used.insert(keys.used.end(), std::begin(detail::target_config_keys),
                     std::end(detail::target_config_keys));
    keys.used.insert(keys.used.end(), std::begin(shared_keys), std::end(shared_keys));
    keys.client.assign(detail::http_client_keys.begin(), detail::http_client_keys.end());
    return keys;
}

/// nullopt: missing, or not above 0; both mean the same.
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

/// Reads the settings shared by `global` and jobs into a job with defaults.
class SharedReader {
 public:
    SharedReader(const YamlValue& value, ScrapeConfig& config, Mistakes& mistakes)
        : value_(value), config_(config), mistakes_(mistakes) {}

    void read() {
        // For Prometheus, the number 0 equals a missing one.
        number("target_limit", config_.target_limit);
        number("keep_dropped_targets", config_.keep_dropped_targets);
        flag("convert_classic_histograms_to_nhcb", config_.convert_classic_histograms_to_nhcb);
        flag("always_scrape_classic_histograms", config_.always_scrape_classic_histograms);
        flag("scrape_native_histograms", config_.scrape_native_histograms);
        mistakes_.attempt([&] {
            const YamlValue scheme = value_["metric_name_validation_scheme"];
            if (scheme.is_empty()) return;
            config_.metric_name_validation_scheme = read_name_validation(scheme);
        });
    }

 private:
    void number(const char* key, std::size_t& target) {
        mistakes_.attempt([&] {
            if (const auto number = value_[key].unsigned_integer()) target = number;
        });
    }
    void flag(const char* key, bool& target) {
        mistakes_.attempt([&] {
            if (const YamlValue value = value_[key]; !value.is_null()) target = value.boolean();
        });
    }

    const YamlValue& value_;
    ScrapeConfig& config_;
    Mistakes& mistakes_;
};

/// The settings of `global` for jobs.
struct GlobalDefaults {
    ScrapeConfig scrape;                   ///< except the times
    std::optional<milliseconds> interval;  ///< as written
    std::optional<milliseconds> timeout;   ///< as written; Prometheus: at most the interval
};

/// Whether Prometheus sets the header itself: it refuses such headers (headers.go of its common
/// library).
bool is_reserved_header(std::string_view name) {
    static constexpr std::array<std::string_view, 18> reserved{
        "authorization",
        "host",
        "content-encoding",
        "content-length",
        "content-type",
        "user-agent",
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "www-authenticate",
        "accept-encoding",
        "x-prometheus-remote-write-version",
        "x-prometheus-remote-read-version",
        "x-prometheus-scrape-timeout-seconds",
        "x-amz-date",
        "x-amz-security-token",
        "x-amz-content-sha256"};
    return std::find(reserved.begin(), reserved.end(), detail::lower_case(name)) != reserved.end();
}

void check_reserved_headers(const YamlValue& headers) {
    for (const auto& [name, sources] : headers.entries()) {
        if (is_reserved_header(name)) sources.fail("is a header that Prometheus itself sets");
    }
}

/// vmagent reserves other headers in `headers`, so that check is left to the host.
void check_scrape_headers(const std::vector<HttpHeader>& headers) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
        const std::string where = "client.headers[" + std::to_string(i) + "]";
        if (!detail::is_header_name(headers[i].name)) {
            throw ConfigError(where, "is not the name of a header");
        }
        if (!detail::is_header_text(headers[i].value)) {
            throw ConfigError(where, "must not contain a line break or another control character");
        }
    }
}

std::size_t bytes_of_rules(const RelabelRules& rules) {
    std::size_t bytes = rules.size() * sizeof(RelabelRule);
    for (const RelabelRule& rule : rules) {
        bytes += rule.regex.size() + rule.replacement.size() + rule.separator.size();
        for (const std::string& name : rule.source_labels) bytes += name.size();
        for (const std::string& selector : rule.if_) bytes += selector.size();
    }
    return bytes;
}

SharedValue<ScrapeClient> read_client(const YamlValue& job, LabelDialect dialect,
                                      const std::string& file_name) {
    const auto& keys = detail::http_client_keys;
    const bool any =
        std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return job.has(key); });
    if (!any) return {};
    detail::FieldPlaces places(std::filesystem::path(file_name).parent_path());
    ApiServerConfig parts;
    detail::read_http_client(job, dialect, "client", parts, places);
    check_reserved_headers(job["http_headers"]);
    try {
        detail::check_auth("client.auth", parts.auth);
        detail::check_tls("client.tls", parts.tls);
        detail::check_proxy("client.proxy", parts.proxy);
        check_scrape_headers(parts.headers);
    } catch (const ConfigError& e) {
        throw ConfigError(places.locate(e.where(), job), e.problem());
    }
    ScrapeClient client;
    client.auth = std::move(parts.auth);
    client.tls = std::move(parts.tls);
    client.proxy = std::move(parts.proxy);
    client.headers = std::move(parts.headers);
    const auto flag = [&](const char* key, bool& target) {
        if (const YamlValue value = job[key]; !value.is_null()) target = value.boolean();
    };
    flag("follow_redirects", client.follow_redirects);
    flag("enable_http2", client.enable_http2);
    return SharedValue(std::move(client));
}

using SharedDiscovery = SharedList<DiscoveryConfig>::shared_pointer;
struct ByValue {
    bool operator()(const SharedDiscovery& a, const SharedDiscovery& b) const { return *a < *b; }
};

/// Reads a file top-down; each job starts as a copy of the settings of `global`. Errors in a job
/// omit that job; other errors reject the file.
class ScrapeConfigReader {
 public:
    ScrapeConfigReader(const ScrapeConfigOptions& options, detail::ConfigFiles& files)
        : options_(options), rules_(detail::rules_of(options.dialect)), files_(files) {
        global_.scrape.dialect = options.dialect;
        global_.scrape.prometheus_version = options.prometheus_version;
    }

    ScrapeConfigFile read(std::string_view text, const std::string& file_name) {
        Mistakes mistakes;
        mistakes.attempt([&] {
            detail::check_version(options_.dialect, options_.prometheus_version);
            read_document(parse(text, file_name), file_name, mistakes);
        });
        std::vector<ScrapeConfigFailure> of_jobs = std::exchange(file_.failures, {});
        add_failures("", mistakes);
        file_.failures.insert(file_.failures.end(), of_jobs.begin(), of_jobs.end());
        report_more(file_name);
        const bool refused = !mistakes.none() || (options_.strict && !file_.failures.empty());
        if (refused) throw ScrapeConfigError(std::move(file_.failures));
        return std::move(file_);
    }

    /// Prepares read_one(). \throws ScrapeConfigError
    void begin(const YamlValue& global) {
        Mistakes mistakes;
        mistakes.attempt([&] {
            detail::check_version(options_.dialect, options_.prometheus_version);
            read_global(global, mistakes);
        });
        add_failures("", mistakes);
        if (!file_.failures.empty()) throw ScrapeConfigError(std::exchange(file_.failures, {}));
    }

    /// Reads one job, independently of all others. \throws ScrapeConfigError
    ScrapeJob read_one(const YamlValue& entry) {
        names_.clear();
        file_.jobs.clear();  // a refused one may be there
        file_.notes.clear();
        copied_ = 0;
        // The limits are those of one job. Its rules stay compiled until the next one.
        rule_reader_ = {};
        read_job(entry, {});
        discoveries_.clear();  // they may have credentials
        if (!file_.failures.empty()) throw ScrapeConfigError(std::exchange(file_.failures, {}));
        ScrapeJob job = std::move(file_.jobs.back());
        file_.jobs.clear();
        return job;
    }

 private:
    YamlValue parse(std::string_view text, const std::string& file_name) const {
        if (text.size() > options_.max_bytes) {
            throw ConfigError(file_name, "the text is larger than " +
                                             std::to_string(options_.max_bytes) + " bytes");
        }
        // Most files have no variables; a copy of the text can take megabytes.
        if (!detail::may_have_variables(text, options_.dialect)) {
            return YamlValue::parse(text, file_name);
        }
        return YamlValue::parse(detail::expand_variables(text, options_.dialect, options_.variables,
                                                         file_name, options_.max_bytes),
                                file_name);
    }

    // --- the parts of a file ---------------------------------------------------------------------

    /// \param mistakes  errors that reject the file
    void read_document(const YamlValue& document, const std::string& file_name,
                       Mistakes& mistakes) {
        handover_.hand_over(document, top_level_keys_, file_.settings, mistakes);
        file_.lists_jobs =
            !document["scrape_configs"].is_null() || !document["scrape_config_files"].is_null();
        mistakes.attempt([&] { read_global(document["global"], mistakes); });
        if (!mistakes.none()) rules_of_global_.clear();
        mistakes.attempt([&] { read_jobs(document["scrape_configs"], file_name); });
        mistakes.attempt([&] {
            for (const YamlValue& pattern : document["scrape_config_files"].items()) {
                attempt_of_file(
                    [&](Mistakes& of_pattern) { read_files(pattern, file_name, of_pattern); });
            }
        });
    }

    void read_global(const YamlValue& global, Mistakes& mistakes) {
        handover_.hand_over(global, global_keys_, file_.global, mistakes);
        SharedReader(global, global_.scrape, mistakes).read();
        mistakes.attempt([&] { read_global_times(global); });
        for (const std::string_view key : rule_keys) {
            const YamlValue list = global[key];
            if (list.is_null()) continue;
            mistakes.attempt([&] {
                if (!rules_.has_global_rules) {
                    list.fail("is vmagent's; Prometheus has it in scrape_configs only");
                }
                rules_of_global_[key] =
                    rule_reader_.read(list, relabel_options(global_.scrape), mistakes);
            });
        }
    }

    void read_global_times(const YamlValue& global) {
        global_.interval = read_duration(global["scrape_interval"], options_.dialect);
        global_.timeout = read_duration(global["scrape_timeout"], options_.dialect);
        const ScrapeConfig defaults;
        const milliseconds interval = global_.interval.value_or(defaults.scrape_interval);
        refuse_timeout_above(interval, global_.timeout, global);
        if (rules_.cuts_global_timeout && !global_.timeout) {
            global_.timeout = std::min(default_timeout, interval);
        }
    }

    /// Reads the files matching one entry of `scrape_config_files`.
    void read_files(const YamlValue& pattern, const std::string& file_name, Mistakes& mistakes) {
        const std::string path = pattern.string();
        if (path.empty()) pattern.fail("must name a file");
        if (path.starts_with("http://") || path.starts_with("https://")) {
            pattern.fail("reading it from a URL is not supported; name a file");
        }
        const std::string full = detail::path_beside(file_name, path);
        // For Prometheus, a plain name is also a pattern and may match nothing; for vmagent, only a
        // name with "*" is a pattern.
        if (rules_.job_files_are_lists && path.find('*') == std::string::npos) {
            return read_job_file(full, pattern, file_name, mistakes);
        }
        const detail::MatchingFiles& found = files_.matching(full, pattern.where());
        for (const std::string& name : found.paths) {
            mistakes.attempt([&] { read_job_file(name, pattern, file_name, mistakes); });
        }
        if (!found.problem.empty()) pattern.fail(detail::printable(found.problem));
    }

    void read_job_file(const std::string& path, const YamlValue& named_by,
                       const std::string& main_file, Mistakes& mistakes) {
        const YamlValue document = parse(files_.read(path, named_by.where()), path);
        const std::string& beside = rules_.job_files_have_directory_of_main_file ? main_file : path;
        if (rules_.job_files_are_lists) return read_jobs(document, beside);
        constexpr std::string_view only_key = "scrape_configs";
        mistakes.allow_only(document, {&only_key, 1});
        read_jobs(document[only_key], beside);
    }

    // --- jobs ------------------------------------------------------------------------------------

    /// \param file_name  base of relative paths
    void read_jobs(const YamlValue& list, const std::string& file_name) {
        const std::vector<YamlValue> jobs = list.items();
        file_.jobs.reserve(file_.jobs.size() + jobs.size());
        for (const YamlValue& job : jobs) read_job(job, file_name);
    }

    void read_job(const YamlValue& value, const std::string& file_name) {
        ScrapeJob job{.scrape = global_.scrape};
        Mistakes mistakes;
        mistakes.attempt([&] {
            if (value.is_null()) value.fail("an entry must not be empty");
            read_keys(value, file_name, job, mistakes);
        });
        if (mistakes.none()) {
            file_.jobs.push_back(std::move(job));
        } else {
            add_failures(job.scrape.job_name, mistakes);
        }
    }

    void read_keys(const YamlValue& value, const std::string& file_name, ScrapeJob& job,
                   Mistakes& mistakes) {
        // Of jobs with the same name, only the first one is read.
        const YamlValue name = value["job_name"];
        if (!mistakes.attempt([&] { job.scrape.job_name = name.string(); }) ||
            !is_new_name(name, job.scrape.job_name, mistakes)) {
            return;
        }
        job.discovery.name = job.scrape.job_name;
        if (copied_ > max_copied_) value.fail("global is too large for so many jobs");
        handover_.hand_over(value, job_keys_, job.settings, mistakes);
        copied_ += detail::inherit_settings(file_.global, job.settings);
        SharedReader(value, job.scrape, mistakes).read();
        mistakes.attempt([&] { read_times(value, job.scrape); });
        mistakes.attempt([&] { read_url(value, job.scrape); });
        mistakes.attempt([&] { job.client = read_client(value, options_.dialect, file_name); });
        read_rules(value, "relabel_configs", job.scrape, job.scrape.relabel_configs, mistakes);
        read_rules(value, "metric_relabel_configs", job.scrape, job.scrape.metric_relabel_configs,
                   mistakes);
        mistakes.attempt([&] { read_discovery(value, file_name, job.discovery, mistakes); });
        if (mistakes.none()) mistakes.attempt([&] { check(value, job.scrape); });
    }

    bool is_new_name(const YamlValue& value, const std::string& name, Mistakes& mistakes) {
        const bool missing = name.empty();
        if (!missing && names_.insert(name).second) return true;
        mistakes.attempt([&] { value.fail(missing ? "is missing" : "another job has this name"); });
        return missing;
    }

    void read_url(const YamlValue& value, ScrapeConfig& config) const {
        const auto text = [&](const char* key, std::string& target) {
            if (!value[key].is_empty()) target = value[key].string();
        };
        text("scheme", config.scheme);
        text("metrics_path", config.metrics_path);
        config.params = read_params(value["params"]);
    }

    /// A default timeout is limited to the interval.
    void read_times(const YamlValue& value, ScrapeConfig& config) const {
        const auto interval = read_duration(value["scrape_interval"], options_.dialect);
        const auto timeout = read_duration(value["scrape_timeout"], options_.dialect);
        config.scrape_interval =
            interval.value_or(global_.interval.value_or(config.scrape_interval));
        refuse_timeout_above(config.scrape_interval, timeout, value);
        const milliseconds wanted = timeout.value_or(global_.timeout.value_or(default_timeout));
        config.scrape_timeout = std::min(wanted, config.scrape_interval);
    }

    void refuse_timeout_above(milliseconds interval, std::optional<milliseconds> timeout,
                              const YamlValue& mapping) const {
        if (!rules_.refuses_timeout_above_interval || !timeout || *timeout <= interval) return;
        mapping["scrape_timeout"].fail("must not be longer than scrape_interval (" +
                                       format_duration(interval) + ")");
    }

    void read_rules(const YamlValue& job, std::string_view key, const ScrapeConfig& config,
                    RelabelRules& rules, Mistakes& mistakes) {
        const auto global = rules_of_global_.find(key);
        if (global != rules_of_global_.end()) {
            rules = global->second;
            copied_ += bytes_of_rules(rules);
        }
        const YamlValue list = job[key];
        if (list.is_null()) return;
        rules.append(rule_reader_.read(list, relabel_options(config), mistakes));
    }

    void read_discovery(const YamlValue& job, const std::string& file_name, Job& discovery,
                        Mistakes& mistakes) {
        for (const YamlValue& entry : job["kubernetes_sd_configs"].items()) {
            mistakes.attempt([&] {
                if (entry.is_null()) entry.fail("an entry must not be empty");
                DiscoveryConfig config =
                    detail::read_sd_config(entry, options_.dialect, file_name, mistakes);
                config.prometheus_version = options_.prometheus_version;
                auto read = std::make_shared<const DiscoveryConfig>(std::move(config));
                discovery.configs.share(*discoveries_.insert(std::move(read)).first);
            });
        }
        detail::read_target_configs(job, options_.dialect, file_name, discovery, mistakes);
    }

    static void check(const YamlValue& job, const ScrapeConfig& config) {
        try {
            validate(config);
        } catch (const ConfigError& e) {
            job[e.where()].fail(e.problem());
        }
    }

    // --- errors ----------------------------------------------------------------------------------

    /// Errors in a file of `scrape_config_files` omit that file.
    template <class Read>
    void attempt_of_file(Read read) {
        Mistakes mistakes;
        mistakes.attempt([&] { read(mistakes); });
        add_failures("", mistakes);
    }

    void add_failures(const std::string& job, const Mistakes& mistakes) {
        constexpr std::size_t max_failures = 10'000;
        std::size_t unreported = mistakes.count() - mistakes.list().size();
        for (const ConfigError& error : mistakes.list()) {
            if (file_.failures.size() == max_failures) {
                ++unreported;
            } else {
                file_.failures.push_back({job, error.where(), error.problem()});
            }
        }
        unreported_ += unreported;
    }

    void report_more(const std::string& file_name) {
        if (unreported_ == 0) return;
        file_.failures.push_back(
            {"", file_name, "there are " + std::to_string(unreported_) + " more mistakes"});
    }

    static constexpr milliseconds default_timeout = std::chrono::seconds(10);
    static constexpr std::size_t mib = std::size_t{1} << 20;

    const ScrapeConfigOptions& options_;
    const detail::DialectRules& rules_;
    detail::ConfigFiles& files_;
    const KnownKeys top_level_keys_ = make_top_level_keys();
    const KnownKeys global_keys_ = make_global_keys();
    const KnownKeys job_keys_ = make_job_keys();
    GlobalDefaults global_;
    std::map<std::string_view, RelabelRules> rules_of_global_;  ///< by key
    detail::RelabelRuleReader rule_reader_;
    std::set<std::string> names_;
    std::set<SharedDiscovery, ByValue> discoveries_;  ///< of all jobs, which share equal ones
    ScrapeConfigFile file_;
    std::size_t unreported_ = 0;
    /// Bytes of `global` copied to jobs. Bounded, because a tiny job copies all of `global`.
    std::size_t copied_ = 0;
    const std::size_t max_copied_ = std::max(64 * mib, 16 * options_.max_bytes);
    detail::KeyHandover handover_{options_, file_.notes};
};

/// Reads entries of `scrape_configs` in JSON, one after the other.
class EntryReader {
 public:
    EntryReader(const boost::json::object& global, ScrapeConfigOptions options)
        : options_(std::move(options)), files_(options_.max_bytes), reader_(options_, files_) {
        reader_.begin(detail::yaml_of(global, "global"));
    }
    EntryReader(const EntryReader&) = delete;
    EntryReader& operator=(const EntryReader&) = delete;

    ScrapeJob read(const detail::ScrapeEntry& entry) {
        if (std::optional<ScrapeJob> job = read_parts(entry)) return std::move(*job);
        // It has a mistake, or is beyond a limit.
        return reader_.read_one(detail::yaml_of(entry.to_json(), document));
    }

 private:
    static constexpr const char* document = "scrape_config";

    /// Reads it with the help of parts known from other jobs.
    /// \returns nullopt for any mistake
    std::optional<ScrapeJob> read_parts(const detail::ScrapeEntry& entry) try {
        std::optional<ScrapeJob> job = read_settings(entry.keys);
        if (!job) return std::nullopt;
        const RelabelOptions of_rules = relabel_options(job->scrape);
        detail::PatternBudget patterns(of_rules.limits);
        const auto read = [&](std::string_view key, const detail::RuleTexts& list,
                              RelabelRules& rules) {
            const boost::json::value* const in_keys = entry.keys.if_contains(key);
            if (in_keys == nullptr || in_keys->is_null()) {
                return read_rules(list, of_rules, patterns, rules);
            }
            return in_keys->is_array() &&
                   read_rules(texts_of(in_keys->get_array()), of_rules, patterns, rules);
        };
        const bool is_sound =
            read(entry.targets_key, entry.relabel_configs, job->scrape.relabel_configs) &&
            read(entry.metrics_key, entry.metric_relabel_configs,
                 job->scrape.metric_relabel_configs);
        return is_sound ? std::move(job) : std::nullopt;
    } catch (const ConfigError&) {
        return std::nullopt;
    }

    static detail::RuleTexts texts_of(const boost::json::array& list) {
        detail::RuleTexts texts;
        texts.reserve(list.size());
        for (const boost::json::value& rule : list) {
            texts.push_back(std::make_shared<const detail::RuleText>(rule));
        }
        return texts;
    }

    /// Reads everything but the rules.
    std::optional<ScrapeJob> read_settings(const boost::json::object& keys) {
        const boost::json::value* const name = keys.if_contains("job_name");
        if (name == nullptr || !name->is_string() || name->get_string().empty()) return {};
        const ScrapeJob* const known = known_.job(keys);
        ScrapeJob job = known ? *known : read_common_settings(keys);
        job.scrape.job_name = job.discovery.name = std::string(name->get_string());
        if (const boost::json::value* const params = keys.if_contains("params")) {
            job.scrape.params = read_params(detail::yaml_of(*params, document));
        }
        read_client_of(keys, job);
        validate(job.scrape);
        return job;
    }

    ScrapeJob read_common_settings(const boost::json::object& keys) {
        boost::json::object settings = detail::common_settings(keys);
        boost::json::object named = settings;
        named["job_name"] = "any";
        ScrapeJob job = reader_.read_one(detail::yaml_of(named, document));
        known_.add(std::move(settings), job);
        return job;
    }

    static void read_client_of(const boost::json::object& keys, ScrapeJob& job) {
        boost::json::object client;
        for (const auto& member : keys) {
            if (detail::is_of_client(member.key())) client.emplace(member.key(), member.value());
        }
        if (client.empty()) return;
        for (const char* const shared : {"follow_redirects", "enable_http2"}) {
            if (const auto* const value = keys.if_contains(shared)) client.emplace(shared, *value);
        }
        job.client = read_client(detail::yaml_of(client, document), job.scrape.dialect, {});
    }

    static std::optional<RelabelRule> read_rule(const boost::json::value& json,
                                                const RelabelOptions& of_rules) {
        if (std::optional<RelabelRule> rule = detail::plain_rule(json)) return rule;
        detail::RelabelRuleReader single;
        Mistakes mistakes;
        const boost::json::array list_of_one{json};
        const RelabelRules read =
            single.read(detail::yaml_of(list_of_one, document), of_rules, mistakes);
        return mistakes.none() ? std::optional(read.front()) : std::nullopt;
    }

    /// Counts the patterns of all rules together, as RelabelRuleReader does.
    /// \returns false for any mistake
    bool read_rules(const detail::RuleTexts& texts, const RelabelOptions& of_rules,
                    detail::PatternBudget& patterns, RelabelRules& rules) {
        rules.reserve(rules.size() + texts.size());
        for (const detail::RuleTextPtr& text : texts) {
            const detail::SharedRulePtr known = known_.rule(*text, of_rules.names);
            if (known && !patterns.count(known->patterns())) return false;
            if (known) {
                rules.share(known->rule());
                continue;
            }
            const std::optional<RelabelRule> read = read_rule(text->json, of_rules);
            if (!read) return false;
            const detail::SharedRulePtr compiled = detail::shared_rule(*read, of_rules, patterns);
            rules.share(compiled->rule());
            known_.add(text, of_rules.names, compiled);
        }
        return true;
    }

    const ScrapeConfigOptions options_;
    detail::ConfigFiles files_;
    ScrapeConfigReader reader_;  ///< with references to both
    detail::KnownParts known_;
};

std::string one_a_line(const std::vector<ScrapeConfigFailure>& failures) {
    std::string text;
    for (const ScrapeConfigFailure& failure : failures) {
        if (!text.empty()) text += '\n';
        text += failure.where + ": " + failure.message;
    }
    return text;
}

}  // namespace

ScrapeConfigError::ScrapeConfigError(std::vector<ScrapeConfigFailure> failures)
    : ConfigError(failures.front().where, failures.front().message) {
    std::string text = one_a_line(failures);
    content_ = std::make_shared<const Content>(Content{std::move(failures), std::move(text)});
}

std::vector<Job> ScrapeConfigFile::discovery_jobs() const {
    std::vector<Job> result;
    for (const ScrapeJob& job : jobs) result.push_back(job.discovery);
    return result;
}

ScrapeConfigFile parse_scrape_configs(std::string_view yaml, const ScrapeConfigOptions& options,
                                      const std::string& file_name) {
    detail::ConfigFiles files(options.max_bytes);
    return ScrapeConfigReader(options, files).read(yaml, file_name);
}

ScrapeConfigFile detail::read_scrape_configs(const std::string& path,
                                             const ScrapeConfigOptions& options,
                                             ConfigFiles& files) {
    const std::string* text = nullptr;
    try {
        text = &files.read(path, path);
    } catch (const ConfigError& e) {
        throw ScrapeConfigError({{"", e.where(), e.problem()}});
    }
    return ScrapeConfigReader(options, files).read(*text, path);
}

detail::ScrapeJobReader::ScrapeJobReader(const boost::json::object& global,
                                         const ScrapeConfigOptions& options) {
    read_ = [reader = std::make_shared<EntryReader>(global, options)](const ScrapeEntry& entry) {
        return reader->read(entry);
    };
}

ScrapeConfigFile load_scrape_configs(const std::string& path, const ScrapeConfigOptions& options) {
    detail::ConfigFiles files(options.max_bytes);
    return detail::read_scrape_configs(path, options, files);
}

}  // namespace k8s_sd::inline v0
