#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_source.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/config_fixtures.hpp"
#include "support/job_host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A text that stands for the targets of a group, by its source.
using Groups = std::map<std::string, std::string>;

/// A source with random updates, files with random content, and jobs that use them and are added
/// and removed at random.
class SourceScenario {
 public:
    explicit SourceScenario(std::uint64_t seed)
        : random_(seed), host_(sim_.context.get_executor()) {
        if (random_.one_in(2)) reload();
        host_.run();
    }

    void run() {
        for (unsigned i = 150; i > 0; --i) {
            switch (random_.below(6)) {
                case 0: reload(); break;
                case 1: set(); break;
                case 2: update(); break;
                case 3: write_file(); break;
                case 4: source_.fail("no answer"); break;
                default: break;
            }
            for (unsigned n = random_.below(10); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
        }
    }

    void check() {
        set();
        // In the end each file is gone or valid, so that its content is known.
        for (const char* name : {"a.json", "b.json"}) {
            if (random_.one_in(2)) {
                write(name, random_.numbered("t", 3));
            } else {
                remove(name);
            }
        }
        sim_.advance(1min);
        CHECK(host_.problems() == "");
        CHECK(host_.jobs.size() == jobs_.size());
        for (const Job& job : jobs_) {
            CAPTURE(job.name);
            CHECK(sources_of(job.name) == expected(job));
        }
    }

    void check_end() {
        host_.manager.reset();
        sim_.settle();
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
        CHECK(sim_.metrics->providers == 0);
    }

 private:
    TargetGroupPtr group(const std::string& source, const std::string& value) {
        std::vector<LabelMap> targets;
        for (std::size_t i = 0; i < value.size(); ++i) {
            targets.push_back({{"__address__", source + value[i]}, {"n", std::to_string(i)}});
        }
        return maker_.make("s/" + source, {{"value", value}}, targets);
    }
    /// No, one or two targets.
    std::string random_value() {
        return std::string(random_.below(3), random_.one_in(2) ? 'a' : 'b');
    }

    void set() {
        Groups next;
        for (unsigned n = random_.below(5); n > 0; --n) {
            next[random_.numbered("g", 6)] = random_value();
        }
        std::vector<TargetGroupPtr> groups;
        for (const auto& [source, value] : next) groups.push_back(group(source, value));
        source_.set(groups);
        groups_ = next;
    }
    void update() {
        const std::string source = random_.numbered("g", 6);
        const std::string value = random_value();
        source_.update({group(source, value)});
        groups_[source] = value;
    }

    void write_file() {
        const std::string name = random_.pick<std::string>({"a.json", "b.json", "c.yml"});
        if (random_.one_in(4)) {
            remove(name);
        } else if (random_.one_in(3)) {
            directory_.write(name, "[{");
        } else {
            write(name, random_.numbered("t", 3));
        }
    }
    void remove(const std::string& name) {
        std::filesystem::remove(directory_.path(name));
        files_.erase(name);
    }
    void write(const std::string& name, const std::string& target) {
        directory_.write(name, R"([{"targets":[")" + target + R"("]}])");
        files_[name] = target;
    }

    void reload() {
        jobs_.clear();
        for (const char* name : {"a", "b", "c"}) {
            if (random_.one_in(4)) continue;
            Job job{name, {}};
            if (!random_.one_in(3)) job.sources = {source_};
            if (random_.one_in(2)) job.file_sd_configs = {files()};
            if (random_.one_in(2)) job.static_configs = {{{random_.numbered("h", 2)}, {}}};
            if (random_.one_in(3)) job.min_update_interval = 3s;
            jobs_.push_back(job);
        }
        host_.manager->apply_config(jobs_);
    }
    FileSdConfig files() {
        FileSdConfig config;
        config.files = {directory_.path("*.json")};
        return config;
    }

    /// Addresses of targets by the last part of their source.
    using Expected = std::map<std::string, std::string>;
    Expected sources_of(const std::string& job) const {
        Expected found;
        for (const auto& [source, targets] : host_.state(job)) {
            std::string& text = found[source.substr(source.rfind('/') + 1)];
            for (const LabelMap& target : targets) text += target.at("__address__") + ' ';
        }
        return found;
    }
    Expected expected(const Job& job) const {
        Expected wanted;
        if (!job.static_configs.empty()) wanted["0"] = job.static_configs[0].targets[0] + ' ';
        if (!job.sources.empty()) {
            for (const auto& [source, value] : groups_) {
                for (const char c : value) ((wanted[source] += source) += c) += ' ';
            }
        }
        if (job.file_sd_configs.empty()) return wanted;
        for (const auto& [name, target] : files_) {
            if (name.ends_with(".json")) wanted[name + ":0"] = target + ' ';
        }
        return wanted;
    }

    Random random_;
    TemporaryDirectory directory_;
    Simulation sim_;
    TargetSource source_;
    TargetGroupMaker maker_;
    JobHost host_;
    Groups groups_;  // as last set in the source
    Groups files_;   // as last written
    std::vector<Job> jobs_;
};

}  // namespace

TEST_CASE("Target sources: the diffs of any changes add up to the last content") {
    for_each_seed("SOURCES", 60, [&](std::uint64_t seed) {
        SourceScenario scenario(seed);
        scenario.run();
        scenario.check();
        scenario.check_end();
    });
}
