#include "k8s_sd/scrape/target_pool.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/groups.hpp"
#include "support/strict_scraper.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

RelabelRule rule(RelabelAction action, const std::string& source, const std::string& regex,
                 const std::string& target = {}, const std::string& replacement = "$1") {
    RelabelRule rule;
    rule.action = action;
    rule.source_labels = {source};
    rule.regex = regex;
    rule.target_label = target;
    rule.replacement = replacement;
    return rule;
}

/// A pool whose job changes at random, and its expected state.
class PoolScenario {
 public:
    explicit PoolScenario(std::uint64_t seed)
        : random_(seed), settings_(random_settings()), pool_(make_pool(settings_, scraper_)) {}

    void run() {
        for (int step = 0; step < 60; ++step) {
            const unsigned what = random_.below(20);
            if (what == 0) {
                clear();
            } else if (what == 1) {
                begin_again();
            } else if (what < 6) {
                reload();
            } else {
                change();
            }
            scraper_.forget_calls();
            if (random_.one_in(8)) check();
        }
    }

    /// Fresh pools, one per provider, have the same targets.
    void check() {
        std::set<StrictScraper::Key> keys;
        std::size_t dropped = 0;
        std::size_t failed = 0;
        for (const auto& [id, provider] : providers_) {
            StrictScraper scraper;
            TargetPool fresh = make_pool(provider.settings, scraper);
            std::vector<TargetGroupPtr> groups;
            for (const auto& [name, group] : provider.groups) groups.push_back(group);
            fresh.apply(full_diff(groups));
            keys.merge(scraper.keys());
            dropped += fresh.dropped_count();
            failed += fresh.failed_count();
        }
        CHECK(scraper_.complaints == "");
        CHECK(scraper_.keys() == keys);
        CHECK(scraper_.count() == keys.size());
        CHECK(pool_.active_count() == keys.size());
        CHECK(pool_.active().size() == keys.size());
        CHECK(pool_.dropped_count() == dropped);
        CHECK(pool_.failed_count() == failed);
        CHECK(pool_.failed().size() == failed);
        const std::size_t kept = settings_.config.keep_dropped_targets;
        CHECK(pool_.dropped().size() == (kept == 0 ? dropped : std::min(kept, dropped)));
        CHECK(scraper_.is_over_limit == pool_.limit_error().has_value());
        const std::size_t limit = settings_.config.target_limit;
        CHECK(scraper_.is_over_limit == (limit != 0 && keys.size() > limit));
        CHECK(pool_.config() == settings_.config);
    }

 private:
    struct Settings {
        ScrapeConfig config;
        Sharding sharding;
    };
    struct Provider {
        Settings settings;
        std::map<std::string, TargetGroupPtr> groups;
    };

    static TargetPool make_pool(const Settings& settings, TargetHandler& handler) {
        return TargetPool(settings.config, handler, settings.sharding);
    }
    Settings random_settings() {
        Settings settings;
        ScrapeConfig& config = settings.config;
        config.job_name = "job";
        using enum RelabelAction;
        if (random_.one_in(2)) {
            config.relabel_configs.push_back(rule(drop, "app", random_.numbered("", 3)));
        }
        if (random_.one_in(3)) {
            config.relabel_configs.push_back(
                rule(replace, "__meta_x", "(.*)", random_.one_in(2) ? "x" : "__param_m"));
        }
        if (random_.one_in(4)) {
            config.relabel_configs.push_back(
                rule(replace, "app", "1", "__scrape_interval__", random_.numbered("1", 3) + "0s"));
        }
        if (random_.one_in(4)) config.params["m"] = {"0", random_.numbered("", 2)};
        if (random_.one_in(4)) config.metrics_path = "/other";
        config.target_limit = random_.below(8);
        config.keep_dropped_targets = random_.below(3);
        if (random_.one_in(3)) {
            settings.sharding = Sharding({.members = 2, .member = random_.below(2)});
        }
        return settings;
    }
    TargetGroupPtr random_group(const std::string& name) {
        std::vector<LabelMap> targets(1 + random_.below(4));
        for (LabelMap& target : targets) {
            target = {{"__address__", random_.one_in(9) ? "x/y" : random_.numbered("h:", 6)},
                      {"app", random_.numbered("", 3)},
                      {"__meta_x", random_.numbered("", 3)}};
            if (random_.one_in(5)) target.emplace("more", random_.numbered("", 2));
        }
        return make_group(name, targets, {{"__meta_y", random_.numbered("", 2)}});
    }

    void clear() {
        pool_.clear();
        providers_.clear();
    }
    /// As a manager delivers a job without previous state.
    void begin_again() {
        JobDiff diff;
        diff.full = true;
        providers_.clear();
        for (unsigned i = random_.below(3); i > 0; --i) list(next_provider_++, diff);
        pool_.apply(diff);
    }
    void reload() {
        if (!random_.one_in(4)) settings_ = random_settings();
        if (random_.one_in(3)) {
            for (auto& [id, provider] : providers_) provider.settings = settings_;
            return pool_.reload(settings_.config, settings_.sharding);
        }
        std::vector<ProviderId> present{next_provider_};
        for (auto& [id, provider] : providers_) {
            if (random_.one_in(2)) continue;
            present.push_back(id);
            provider.settings = settings_;
        }
        pool_.reload(settings_.config, settings_.sharding, present);
    }
    void change() {
        JobDiff diff;
        for (auto it = providers_.begin(); it != providers_.end();) {
            const ProviderId id = it->first;
            if (random_.one_in(6)) {
                ProviderDiff& part = diff.providers.emplace_back();
                part.provider = id;
                part.last = true;
                for (auto& [name, group] : it->second.groups) part.diff.removed.push_back(group);
                it = providers_.erase(it);
                continue;
            }
            if (random_.one_in(2)) diff.providers.push_back(change_of(id, it->second));
            ++it;
        }
        if (random_.one_in(3) || providers_.empty()) list(next_provider_++, diff);
        pool_.apply(diff);
    }
    ProviderDiff change_of(ProviderId id, Provider& provider) {
        ProviderDiff part;
        part.provider = id;
        for (const char* name : {"a", "b", "c", "d", "e"}) {
            if (random_.one_in(2)) continue;
            const auto known = provider.groups.find(name);
            if (known != provider.groups.end() && random_.one_in(3)) {
                part.diff.removed.push_back(known->second);
                provider.groups.erase(known);
                continue;
            }
            const TargetGroupPtr group = random_group(name);
            const TargetGroupPtr previous =
                known == provider.groups.end() ? nullptr : known->second;
            part.diff.updated.push_back({group, previous, false});
            provider.groups[name] = group;
        }
        return part;
    }
    void list(ProviderId id, JobDiff& diff) {
        Provider& provider = providers_[id];
        provider.settings = settings_;
        ProviderDiff part = change_of(id, provider);
        part.diff.full = true;
        diff.providers.push_back(part);
    }

    Random random_;
    StrictScraper scraper_;
    Settings settings_;
    TargetPool pool_;
    std::map<ProviderId, Provider> providers_;
    ProviderId next_provider_ = 1;
};

}  // namespace

TEST_CASE("TargetPool: after any changes it has what fresh pools would have") {
    for_each_seed("POOLS", 200, [&](std::uint64_t seed) {
        PoolScenario scenario(seed);
        scenario.run();
        scenario.check();
    });
}
