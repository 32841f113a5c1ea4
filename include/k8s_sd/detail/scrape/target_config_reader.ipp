#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/scrape/scrape_config_reader.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// vmagent's default: two requests within -promscrape.httpSDCheckInterval, a minute.
constexpr Duration vmagent_list_interval = std::chrono::seconds(30);

class TargetConfigReader {
 public:
    TargetConfigReader(LabelDialect dialect, const std::string& file_name, bool job_has_rules)
        : dialect_(dialect),
          rules_(rules_of(dialect)),
          refuses_urls_(rules_.refuses_slash_in_static_targets && !job_has_rules),
          directory_(std::filesystem::path(file_name).parent_path()) {}

    StaticConfig read_static(const YamlValue& entry) const {
        check_entry(entry);
        entry.allow_only({"targets", "labels"});
        StaticConfig config;
        for (const YamlValue& target : entry["targets"].items()) {
            config.targets.push_back(read_target(target));
        }
        for (const auto& [name, value] : entry["labels"].entries()) {
            if (name.empty()) value.fail("a label needs a name");
            config.labels.emplace(name, value.string());
        }
        if (rules_.address_label_replaces_targets) prefer_address_label(config);
        return config;
    }

    FileSdConfig read_file(const YamlValue& entry) const {
        check_entry(entry);
        entry.allow_only({"files", "refresh_interval"});
        FileSdConfig config;
        config.dialect = dialect_;
        if (rules_.writes_relative_file_paths) config.directory = directory_.string();
        FieldPlaces places(directory_);
        for (const YamlValue& file : entry["files"].items()) {
            std::string path;
            places.path(file, "files[" + std::to_string(config.files.size()) + "]", path);
            const bool relative = !file.string().starts_with('/');
            config.files.push_back(
                relative ? std::filesystem::path(path).lexically_normal().string() : path);
        }
        // Prometheus re-reads files at this interval in case it misses an event; files are checked
        // more often here.
        if (const auto interval = read_interval(entry)) {
            config.interval = std::min(config.interval, *interval);
        }
        return checked(std::move(config), "", places, entry);
    }

    HttpSdConfig read_http(const YamlValue& entry) const {
        check_entry(entry);
        std::vector<std::string_view> keys{"url", "refresh_interval"};
        keys.insert(keys.end(), http_client_keys.begin(), http_client_keys.end());
        refuse_proxy_credentials(entry);
        entry.allow_only(keys, keys);
        HttpSdConfig config;
        config.dialect = dialect_;
        if (!rules_.refuses_bad_target_lists) config.interval = vmagent_list_interval;
        FieldPlaces places(directory_);
        places.text(entry["url"], "client.url", config.url);
        ApiServerConfig client;
        read_http_client(entry, dialect_, "client", client, places);
        config.auth = std::move(client.auth);
        config.headers = std::move(client.headers);
        config.tls = std::move(client.tls);
        config.proxy = std::move(client.proxy);
        if (const YamlValue follow = entry["follow_redirects"]; !follow.is_null()) {
            config.follow_redirects = follow.boolean();
        }
        entry["enable_http2"].boolean();  // validated only: these lists come by HTTP/1.1
        if (const auto interval = read_interval(entry)) config.interval = *interval;
        return checked(std::move(config), "client.", places, entry);
    }

 private:
    static void check_entry(const YamlValue& entry) {
        if (entry.is_null()) entry.fail("an entry must not be empty");
    }

    std::string read_target(const YamlValue& value) const {
        std::string target = value.string();
        if (refuses_urls_ && target.find('/') != std::string::npos) {
            value.fail("a target is host:port, without scheme and path; these are scheme and "
                       "metrics_path of the job");
        }
        return target;
    }

    std::optional<Duration> read_interval(const YamlValue& entry) const {
        const YamlValue value = entry["refresh_interval"];
        if (value.is_null()) return std::nullopt;
        try {
            const auto interval = parse_duration(value.string(), dialect_);
            if (interval.count() == 0) return std::nullopt;
            return interval;
        } catch (const ConfigError& e) {
            value.fail(e.problem());
        }
    }

    template <class Config>
    static Config checked(Config config, const std::string& prefix, const FieldPlaces& places,
                          const YamlValue& entry) {
        try {
            validate(config);
        } catch (const ConfigError& e) {
            throw ConfigError(places.locate(prefix + e.where(), entry), e.problem());
        }
        return config;
    }

    const LabelDialect dialect_;
    const DialectRules& rules_;
    const bool refuses_urls_;
    const std::filesystem::path directory_;
};

}  // namespace

void read_target_configs(const YamlValue& entry, LabelDialect dialect, const std::string& file_name,
                         Job& job, Mistakes& mistakes) {
    // Rules may turn a URL into an address or a parameter, as for the blackbox exporter.
    const bool has_rules = !entry["relabel_configs"].items().empty();
    const TargetConfigReader reader(dialect, file_name, has_rules);
    const auto read_each = [&](const char* key, auto& configs, auto read) {
        mistakes.attempt([&] {
            for (const YamlValue& item : entry[key].items()) {
                mistakes.attempt([&] { configs.push_back((reader.*read)(item)); });
            }
        });
    };
    read_each("static_configs", job.static_configs, &TargetConfigReader::read_static);
    read_each("file_sd_configs", job.file_sd_configs, &TargetConfigReader::read_file);
    read_each("http_sd_configs", job.http_sd_configs, &TargetConfigReader::read_http);
}

}  // namespace k8s_sd::inline v0::detail
