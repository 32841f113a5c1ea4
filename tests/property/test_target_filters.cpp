#include "k8s_sd/detail/discovery/filter_index.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/target_source.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/groups.hpp"
#include "support/job_host.hpp"
#include "support/strict_scraper.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// Labels, values, rules and filters that often meet.
class RandomJobs {
 public:
    explicit RandomJobs(std::uint64_t seed) : random(seed) {}

    std::string label() { return "__meta_" + random.pick<std::string>({"app", "tier", "port"}); }
    std::string value() {
        if (random.one_in(200)) return std::string(40'000, 'x');
        return random.pick<std::string>({"", "a", "b", "A", "a;b", "a.b", "a;true", "true", "axb",
                                         "\xc3\xa9", "a", "b", "true", "c"});
    }
    LabelMap labels(unsigned sparse) {
        LabelMap labels;
        for (const char* name : {"__meta_app", "__meta_tier", "__meta_port"}) {
            if (random.one_in(sparse)) labels.emplace(name, value());
        }
        return labels;
    }
    TargetGroupPtr group(const std::string& name) {
        std::vector<LabelMap> targets(1 + random.below(3));
        for (LabelMap& target : targets) {
            target = labels(4);
            target.emplace("__address__", random.one_in(9) ? "x/y" : random.numbered("h:", 6));
        }
        return make_group(name, targets, labels(2));
    }

    std::string separator() { return random.pick<std::string>({";", ";", "", "::", "true", "a"}); }
    std::vector<std::string> sources() {
        std::vector<std::string> names(1 + random.below(2));
        for (std::string& name : names) name = label();
        if (random.one_in(10)) names.emplace_back("__address__");
        if (random.one_in(20)) names.clear();
        return names;
    }
    std::string regex() {
        return random.pick<std::string>(
            {"a",     "(a)", "(a|b)", "(a|b);true", "(a);true", "^a$", "a.b",
             "a\\.b", "",    "a;b",   "(?i)a",      "A",        ".*",  "(.+)",
             "true",  "|a",  "(|a);", "(?:a|b)",    "a|b;true", ";",   "(a.b);true"});
    }
    RelabelRule rule() {
        using enum RelabelAction;
        RelabelRule rule;
        rule.source_labels = sources();
        rule.separator = separator();
        rule.regex = regex();
        switch (random.below(16)) {
            case 0: rule.action = drop; break;
            case 1:
                rule.action = labeldrop;
                rule.source_labels.clear();
                rule.separator = ";";
                rule.regex = "__meta_tie.";
                break;
            case 2:
                rule.action = labelmap;
                rule.regex = "__meta_(app)";
                rule.replacement = random.one_in(2) ? "__meta_tier" : "x_$1";
                break;
            case 3: rule.action = lowercase; break;
            case 4:
                rule.action = hashmod;
                rule.modulus = 2;
                break;
            case 5:
            case 6: rule.replacement = random.pick<std::string>({"$1", "a", "", "$1$1"}); break;
            case 7:
                rule = {};
                rule.source_labels = {"job"};
                rule.target_label = "__tmp_job";
                return rule;
            default: rule.action = keep; break;
        }
        const bool has_target =
            rule.action == replace || rule.action == lowercase || rule.action == hashmod;
        if (has_target) rule.target_label = random.one_in(2) ? label() : "x";
        return rule;
    }
    ScrapeConfig config(const std::string& name) {
        ScrapeConfig config;
        config.job_name = name;
        for (unsigned n = random.below(5); n > 0; --n) config.relabel_configs.push_back(rule());
        return config;
    }

    TargetFilter filter() {
        TargetFilter filter;
        for (unsigned n = random.below(3); n > 0; --n) {
            LabelCondition condition{{label()}, "", {value()}};
            if (random.one_in(2)) {
                condition.labels.push_back(label());
                condition.separator = separator();
            }
            if (random.one_in(2)) {
                condition.values.push_back(value() + condition.separator + value());
            }
            filter.conditions.push_back(std::move(condition));
        }
        return filter;
    }

    Random random;
};

/// A manager, and a pool for each of its jobs.
class FilterScraper {
 public:
    FilterScraper(boost::asio::io_context& context, bool filtered)
        : filtered_(filtered), host_(context.get_executor()) {
        host_.after_diff = [this](const JobDiff& diff) {
            const auto job = jobs_.find(diff.job);
            if (job != jobs_.end()) job->second->apply(diff);
            if (!diff.last || job == jobs_.end()) return;
            if (ended_.erase(diff.job) != 0) jobs_.erase(job);
        };
        host_.run();
    }

    using Configs = std::map<std::string, std::pair<ScrapeConfig, std::vector<TargetSource>>>;

    /// \param changed  the job that differs from the previous call, if only that is to be applied
    void apply(const Configs& configs, const std::optional<std::string>& changed) {
        std::vector<Job> jobs;
        std::vector<std::string> removed;
        if (changed && !configs.contains(*changed)) removed.push_back(*changed);
        for (const auto& [name, config] : configs) {
            if (changed && name != *changed) continue;
            Job& job = jobs.emplace_back();
            job.name = name;
            job.sources = config.second;
            if (filtered_) job.filter = target_filter(config.first);
        }
        if (changed) {
            host_.manager->change_jobs(jobs, removed);
        } else {
            host_.manager->apply_config(jobs);
        }
        for (const auto& [name, pool] : jobs_) {
            if (!configs.contains(name)) ended_.insert(name);
        }
        for (const auto& [name, config] : configs) {
            ended_.erase(name);
            auto& job = jobs_[name];
            if (!job) job = std::make_unique<Pool>(config.first);
            job->pool.reload(config.first, {}, host_.manager->providers(name));
            job->scraper.forget_calls();
        }
    }

    /// The targets that are scraped, dropped and failed, in words.
    std::string state(const std::string& name) const {
        const auto job = jobs_.find(name);
        if (job == jobs_.end()) return "absent";
        const TargetPool& pool = job->second->pool;
        std::multiset<std::string> lines;
        const auto text = [](const LabelMap& labels) {
            std::string line;
            for (const auto& [label, value] : labels) line += label + "=" + value + ",";
            return line;
        };
        for (const auto& [labels, url] : job->second->scraper.keys()) {
            lines.insert("scraped " + url + " " + text(labels));
        }
        for (const DroppedTarget& target : pool.dropped()) {
            lines.insert("dropped " + target.source + " " + text(target.discovered_labels) +
                         std::to_string(static_cast<int>(target.reason)));
        }
        for (const FailedTarget& target : pool.failed()) {
            lines.insert("failed " + target.source + std::to_string(target.index) + target.message);
        }
        std::string all = std::to_string(pool.active_count()) + " " +
                          std::to_string(pool.dropped_count()) + " " +
                          std::to_string(pool.failed_count()) + "\n";
        for (const std::string& line : lines) all += line + "\n";
        return all;
    }
    /// Without those about changes of empty labels, which are changes for the library alone.
    std::string complaints() const {
        std::string all = host_.complaints;
        for (const auto& [name, job] : jobs_) all += job->scraper.complaints;
        all = std::regex_replace(all, std::regex("[^\n]*: unchanged\n"), "");
        return std::regex_replace(all, std::regex("kept without news; "), "");
    }
    std::size_t diffs() const { return host_.diffs; }
    /// The groups of a job's snapshot.
    std::set<TargetGroupPtr> snapshot(const std::string& name) const {
        std::set<TargetGroupPtr> groups;
        const auto snapshot = host_.manager->snapshot(name);
        if (!snapshot) return groups;
        for (const auto& provider : snapshot->providers) {
            groups.insert(provider.groups.begin(), provider.groups.end());
        }
        return groups;
    }
    void end() { host_.manager.reset(); }

 private:
    struct Pool {
        explicit Pool(const ScrapeConfig& config) : pool(config, scraper) {}
        void apply(const JobDiff& diff) {
            pool.apply(diff);
            scraper.forget_calls();
        }
        StrictScraper scraper;
        TargetPool pool;
    };

    const bool filtered_;
    std::map<std::string, std::unique_ptr<Pool>> jobs_;
    std::set<std::string> ended_;
    JobHost host_;
};

/// Two scrapers of the same jobs, with and without filters.
class FilterScenario {
 public:
    explicit FilterScenario(std::uint64_t seed)
        : jobs_(seed), plain_(context_, false), filtered_(context_, true) {}

    void run() {
        for (int i = 0; i < 80; ++i) {
            switch (random_.below(6)) {
                case 0: change_job(); break;
                case 1: set(); break;
                default: update(); break;
            }
            for (unsigned n = random_.below(8); n > 0; --n) context_.poll_one();
            if (random_.one_in(8)) check();
        }
        check();
        plain_.end();
        filtered_.end();
        settle();
    }
    std::size_t diffs_spared() const { return plain_.diffs() - filtered_.diffs(); }

 private:
    void settle() {
        context_.restart();
        while (context_.poll() != 0) context_.restart();
    }
    void check() {
        settle();
        CHECK(plain_.complaints() == "");
        CHECK(filtered_.complaints() == "");
        for (const auto& [name, config] : configs_) {
            INFO(name);
            CHECK(plain_.state(name) == filtered_.state(name));
            const TargetFilter filter = target_filter(config.first);
            std::set<TargetGroupPtr> passing = plain_.snapshot(name);
            std::erase_if(passing, [&](const auto& group) { return !filter.passes_any(*group); });
            CHECK(passing == filtered_.snapshot(name));
        }
    }

    void change_job() {
        const std::string name = random_.numbered("job", 6);
        if (random_.one_in(4)) {
            configs_.erase(name);
        } else {
            auto& [config, sources] = configs_[name];
            const bool has_rules = !sources.empty() && random_.one_in(5);
            if (!has_rules) config = jobs_.config(name);
            if (sources.empty() || random_.one_in(5)) sources = some_sources();
        }
        plain_.apply(configs_, std::nullopt);
        const bool all = random_.one_in(3);
        filtered_.apply(configs_, all ? std::nullopt : std::optional(name));
    }
    std::vector<TargetSource> some_sources() {
        switch (random_.below(3)) {
            case 0: return {sources_[0]};
            case 1: return {sources_[1]};
            default: return {sources_[0], sources_[1]};
        }
    }
    void set() {
        std::vector<TargetGroupPtr> groups;
        for (const char* name : {"g0", "g1", "g2", "g3", "g4"}) {
            if (random_.one_in(2)) groups.push_back(jobs_.group(name));
        }
        sources_[random_.below(2)].set(groups);
    }
    void update() {
        const std::string name = random_.numbered("g", 5);
        const bool is_removal = random_.one_in(5);
        sources_[random_.below(2)].update({is_removal ? no_targets(name) : jobs_.group(name)});
    }

    TargetGroupPtr no_targets(const std::string& name) {
        return maker_.make("pod/ns/" + name, {}, {});
    }

    RandomJobs jobs_;
    TargetGroupMaker maker_;
    Random& random_ = jobs_.random;
    boost::asio::io_context context_;
    TargetSource sources_[2];
    FilterScraper::Configs configs_;
    FilterScraper plain_, filtered_;
};

}  // namespace

TEST_CASE("Target filters: an index finds the filters that pass a group, and no others") {
    for_each_seed("FILTERS", 40, [&](std::uint64_t seed) {
        RandomJobs jobs(seed);
        detail::FilterIndex index;
        std::list<detail::FilterOwner> owners;
        for (int step = 0; step < 150; ++step) {
            if (owners.empty() || jobs.random.below(3) != 0) {
                index.add(owners.emplace_back(detail::FilterOwner{jobs.filter()}));
            } else {
                const auto owner = std::next(
                    owners.begin(), jobs.random.below(static_cast<unsigned>(owners.size())));
                index.remove(*owner);
                owners.erase(owner);
            }
            CHECK(index.size() == owners.size());
            const TargetGroupPtr group = jobs.group("g");
            std::multiset<const detail::FilterOwner*> expected;
            for (const detail::FilterOwner& owner : owners) {
                if (owner.filter.passes_any(*group)) expected.insert(&owner);
            }
            const detail::FilterIndex::Owners found = index.passing(*group);
            CHECK(std::multiset<const detail::FilterOwner*>(found.begin(), found.end()) ==
                  expected);
        }
        for (detail::FilterOwner& owner : owners) index.remove(owner);
        CHECK(index.size() == 0);
        CHECK(index.passing(*jobs.group("g")).empty());
    });
}

TEST_CASE("Target filters: the pools of any jobs have the same targets as without filters") {
    std::size_t spared = 0, runs = 0;
    for_each_seed("FILTERS", 60, [&](std::uint64_t seed) {
        FilterScenario scenario(seed);
        scenario.run();
        spared += scenario.diffs_spared();
        ++runs;
    });
    CHECK(spared > 5 * runs);
}
