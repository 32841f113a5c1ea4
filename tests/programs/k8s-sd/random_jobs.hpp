#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program::test {

/// Draws random job configurations. Some jobs discover the steady pod whenever they exist, and
/// their rules keep its URL.
class RandomJobs {
 public:
    static constexpr std::string_view always = "steady";       ///< in every configuration
    static constexpr std::string_view sometimes = "steady/2";  ///< finds the steady pod, too
    static constexpr const char* steady_address = "10.9.9.9:8080";

    static bool is_steady(std::string_view job) { return job == always || job == sometimes; }
    /// All job names that a configuration can have.
    static std::vector<std::string> names() { return {"steady", "steady/2", "a b", "c"}; }

    /// Whether the entire file is usable.
    static bool is_usable(const k8s_sd::ScrapeConfigFile& file) {
        return std::all_of(file.jobs.begin(), file.jobs.end(), is_usable_job);
    }
    static bool is_usable_job(const k8s_sd::ScrapeJob& job) {
        const auto& configs = job.discovery.configs;
        return std::all_of(configs.begin(), configs.end(),
                           [](const auto& config) { return config.kubeconfig_file.empty(); });
    }
    /// A program without a usable job is never ready.
    static bool has_usable_job(const k8s_sd::ScrapeConfigFile& file) {
        return std::any_of(file.jobs.begin(), file.jobs.end(), is_usable_job);
    }

    RandomJobs(k8s_sd::test::Random& random, const std::string& url) : random_(random), url_(url) {
        for (unsigned i = 0; i < usable; ++i) {
            pool_.push_back(k8s_sd::test::random_config(random_, url_));
        }
        pool_.emplace_back().kubeconfig_file = "/nonexistent";
    }
    RandomJobs(const RandomJobs&) = delete;
    RandomJobs& operator=(const RandomJobs&) = delete;

    /// The next configuration: other jobs, or some of them changed.
    k8s_sd::ScrapeConfigFile next() {
        if (random_.one_in(4)) {
            pool_[random_.below(usable)] = k8s_sd::test::random_config(random_, url_);
        }
        std::vector<k8s_sd::ScrapeJob> jobs;
        for (const std::string& name : names()) {
            const k8s_sd::ScrapeJob* before = find(name);
            if (name != always && random_.one_in(4)) continue;
            jobs.push_back(before && random_.one_in(2) ? *before : changed(name, before));
        }
        file_.jobs = std::move(jobs);
        return file_;
    }

 private:
    static constexpr unsigned usable = 4;

    const k8s_sd::ScrapeJob* find(const std::string& name) const {
        for (const k8s_sd::ScrapeJob& job : file_.jobs) {
            if (job.scrape.job_name == name) return &job;
        }
        return nullptr;
    }
    /// \param before  null: the job is new
    k8s_sd::ScrapeJob changed(const std::string& name, const k8s_sd::ScrapeJob* before) {
        k8s_sd::ScrapeJob job = before ? *before : k8s_sd::ScrapeJob();
        const unsigned what = before ? random_.below(3) : 2;
        if (what != 0) set_discovery(job, name);
        if (what != 1) set_scrape(job, name);
        if (is_steady(name)) tie(job);
        // The manager keeps the targets of removed discoveries until the discoveries added in the
        // same call are listed, but not until earlier ones are.
        if (is_steady(name) && before && replaces_a_part(*before, job)) return *before;
        return job;
    }
    static bool replaces_a_part(const k8s_sd::ScrapeJob& before, const k8s_sd::ScrapeJob& now) {
        const auto without_pace = [](const k8s_sd::ScrapeJob& job) {
            std::vector<k8s_sd::DiscoveryConfig> configs = job.discovery.configs.copy();
            for (k8s_sd::DiscoveryConfig& config : configs) config.min_update_interval = {};
            return configs;
        };
        const auto had = without_pace(before);
        const auto has = without_pace(now);
        const auto stays = [&](const auto& config) {
            return std::find(has.begin(), has.end(), config) != has.end();
        };
        return std::any_of(had.begin(), had.end(), stays) &&
               !std::all_of(had.begin(), had.end(), stays);
    }
    /// Some rules apply to the targets of the new discovery, and would drop those of another one.
    void tie(k8s_sd::ScrapeJob& job) {
        auto& rules = job.scrape.relabel_configs;
        auto& configs = job.discovery.configs;
        const auto tied =
            rule(k8s_sd::RelabelAction::keep, {"__meta_kubernetes_node_name"}, "steady");
        rules.erase_if([&](const k8s_sd::RelabelRule& rule) { return rule == tied; });
        if (!configs.front().attach_metadata.node || random_.one_in(2)) return;
        k8s_sd::RelabelRules with_tied{tied};
        with_tied.append(rules);
        rules = std::move(with_tied);
        // An unchanged discovery gets the new rules at once.
        configs.erase_if([](const k8s_sd::DiscoveryConfig& config) {
            return config.role == k8s_sd::Role::pod && !config.attach_metadata.node;
        });
    }
    void set_discovery(k8s_sd::ScrapeJob& job, const std::string& name) {
        job.discovery = {};
        job.discovery.name = name;
        if (is_steady(name)) job.discovery.configs.push_back(steady_config());
        for (unsigned n = random_.below(3); n > 0; --n) job.discovery.configs.push_back(pick());
        if (random_.one_in(3)) job.discovery.min_update_interval = std::chrono::seconds(3);
        if (!random_.one_in(3)) return;
        k8s_sd::StaticConfig& fixed = job.discovery.static_configs.emplace_back();
        fixed.targets = {"10.1.1.1:80", random_.numbered("10.1.1.2:8", 3)};
        if (random_.one_in(2)) fixed.labels["app"] = random_.numbered("x", 2);
    }
    k8s_sd::DiscoveryConfig pick() {
        return pool_[random_.below(static_cast<unsigned>(pool_.size()))];
    }
    k8s_sd::DiscoveryConfig steady_config() {
        k8s_sd::DiscoveryConfig config = pool_[random_.below(usable)];
        config.role = k8s_sd::Role::pod;
        config.namespaces = {"a"};
        config.selectors.clear();
        return config;
    }
    void set_scrape(k8s_sd::ScrapeJob& job, const std::string& name) {
        job.scrape = {};
        job.scrape.job_name = name;
        job.scrape.scrape_interval = std::chrono::seconds(15 + random_.below(2));
        if (random_.one_in(4)) job.scrape.dialect = k8s_sd::LabelDialect::victoriametrics;
        for (unsigned n = random_.below(4); n > 0; --n) {
            job.scrape.relabel_configs.push_back(steady_rule());
        }
        job.client = k8s_sd::ScrapeClient{.headers = {{"X-Secret", random_.numbered("s", 3)}}};
        if (is_steady(name)) return;
        for (unsigned n = random_.below(3); n > 0; --n) {
            job.scrape.relabel_configs.push_back(any_rule());
        }
        if (random_.one_in(3)) job.scrape.metrics_path = random_.numbered("/m", 2);
        if (random_.one_in(3)) job.scrape.params["p"] = {random_.numbered("v", 2), "w"};
    }

    static k8s_sd::RelabelRule rule(k8s_sd::RelabelAction action, std::vector<std::string> labels,
                                    std::string regex, std::string target = {},
                                    std::string replacement = "$1") {
        k8s_sd::RelabelRule rule;
        rule.action = action;
        rule.source_labels = std::move(labels);
        rule.regex = std::move(regex);
        rule.target_label = std::move(target);
        rule.replacement = std::move(replacement);
        return rule;
    }
    /// A rule that keeps the steady target and its address.
    k8s_sd::RelabelRule steady_rule() {
        using enum k8s_sd::RelabelAction;
        switch (random_.below(9)) {
            case 0: return rule(labelmap, {}, "__meta_kubernetes_pod_label_(.+)");
            case 1: return rule(replace, {"__meta_kubernetes_pod_name"}, "(.+)", "pod");
            case 2: return rule(drop, {"__meta_kubernetes_pod_phase"}, "Succeeded|Pending");
            case 3: return rule(keep, {"__meta_kubernetes_pod_name"}, "steady|p[0-3]");
            case 4: return rule(replace, {}, "(.*)", "team", random_.numbered("t", 3));
            case 5: return rule(labeldrop, {}, "app|tier");
            case 6: return rule(drop, {"__address__"}, "10\\.0\\.0\\.[1-4]:.*");
            case 7: return rule(replace, {"__meta_kubernetes_node_name"}, "(.+)", "node");
            default:
                // Lists that do not fit into one piece of a stream.
                if (!random_.one_in(4)) return rule(replace, {}, "(.*)", "team", "\u2028%{x}");
                return rule(replace, {}, "(.*)", "large", std::string(100'000, 'x'));
        }
    }
    k8s_sd::RelabelRule any_rule() {
        using enum k8s_sd::RelabelAction;
        switch (random_.below(6)) {
            case 0: return rule(drop, {"__meta_kubernetes_namespace"}, "b");
            case 1: return rule(replace, {}, "(.*)", "__address__", "10.2.2.2:80");
            case 2:
                return rule(replace, {"__meta_kubernetes_pod_name"}, "p1", "__tmp_disable_sharding",
                            "1");
            case 3: return rule(replace, {"__address__"}, "(.*):.*", "__address__", "$1:9999");
            case 4: return rule(keep, {"__meta_kubernetes_pod_label_app"}, "x");
            default:
                return rule(replace, {"__meta_kubernetes_pod_label_tier"}, "(.+)",
                            "__metrics_path__", "/$1");
        }
    }

    k8s_sd::test::Random& random_;
    const std::string url_;
    std::vector<k8s_sd::DiscoveryConfig> pool_;  ///< the last one is unusable
    k8s_sd::ScrapeConfigFile file_;
};

}  // namespace k8s_sd_program::test
