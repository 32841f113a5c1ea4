#include "jobs/served_jobs.hpp"
#include "k8s_sd/target_source.hpp"
#include "monitors/idle_monitors.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd_program;
using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;

namespace {

const std::string label_of_app = "__meta_kubernetes_service_label_app";
const std::string label_of_port = "__meta_kubernetes_endpointslice_port_name";

RelabelRule keep_rule(const std::string& label, const std::string& regex) {
    RelabelRule rule;
    rule.action = RelabelAction::keep;
    rule.source_labels = {label};
    rule.regex = regex;
    return rule;
}

RelabelRule copy_rule(const std::string& label, const std::string& to) {
    RelabelRule rule;
    rule.source_labels = {label};
    rule.target_label = to;
    return rule;
}

/// The job of a ServiceMonitor, and one of a file with the same rules, which gets all targets.
class FilteredJobs {
 public:
    static constexpr const char* filtered = "serviceMonitor/shop/cart/0";
    static constexpr const char* unfiltered = "file";

    FilteredJobs()
        : jobs_(strand_.get_executor(), workers_.get_executor(), ServeOptions{}, metrics_) {
        clear();
        use("cart");
    }
    ~FilteredJobs() {
        jobs_.stop();
        work();
    }
    FilteredJobs(const FilteredJobs&) = delete;
    FilteredJobs& operator=(const FilteredJobs&) = delete;

    void use(const std::string& app) {
        k8s_sd::ScrapeConfigFile file;
        file.jobs = {job(unfiltered, app)};
        k8s_sd::MonitorJob made;
        made.origin = filtered;
        made.object = "ServiceMonitor shop/cart";
        made.job = std::make_shared<const k8s_sd::ScrapeJob>(job(filtered, app));
        CHECK(jobs_.apply(file, {std::make_shared<const k8s_sd::MonitorJob>(made)}).empty());
    }
    /// \param targets  the app and the port of each
    void put(const std::string& source,
             const std::vector<std::pair<std::string, std::string>>& targets) {
        std::vector<k8s_sd::LabelMap> labels;
        for (const auto& [app, port] : targets) {
            labels.push_back({{"__address__", source + ":" + std::to_string(labels.size())},
                              {label_of_app, app},
                              {label_of_port, port}});
        }
        source_.update({maker_.make(source, {}, labels)});
    }
    void clear() { source_.set({}); }
    void work() {
        for (int i = 0; i < 10; ++i) {
            strand_.restart();
            strand_.poll();
            workers_.restart();
            workers_.poll();
        }
    }

    /// Why the monitor has no targets, after a look.
    std::string idle() {
        const IdleMonitors idle;
        idle.lines(jobs_);
        work();
        return idle.lines(jobs_);
    }
    JobTargetCounts counts(const std::string& name) { return jobs_.find(name)->counts(); }
    std::string count_words(const std::string& name) {
        const JobTargetCounts counted = counts(name);
        return std::to_string(counted.discovered) + " discovered, " +
               std::to_string(counted.active) + " active, " + std::to_string(counted.dropped) +
               " dropped, " + std::to_string(counted.failed) + " failed";
    }
    std::string list(const std::string& name, ListForm form) {
        std::string text = "no answer";
        jobs_.find(name)->get({.content = {form}}, [&](const ListAnswer& answer) {
            text =
                answer.body && answer.why == Refusal::none ? *answer.body->bytes() : answer.refusal;
        });
        work();
        return text;
    }
    /// The addresses in the list, sorted.
    std::set<std::string> listed(const std::string& name) {
        std::set<std::string> addresses;
        const auto groups = boost::json::parse(list(name, ListForm::relabelled));
        for (const auto& group : groups.as_array()) {
            for (const auto& target : group.at("targets").as_array()) {
                addresses.emplace(target.as_string());
            }
        }
        return addresses;
    }
    /// All rows with the outcome of each.
    std::string table(const std::string& name) {
        std::string text;
        jobs_.find(name)->visit([&](JobTargets& targets) {
            TargetTable& known = targets.table(std::chrono::steady_clock::now());
            while (!known.advance(3)) {
            }
            for (const TargetRow& row : known.rows()) {
                text += std::string(row.address) + " " + std::string(to_string(row.state)) + " " +
                        std::string(known.reason(row)) + "\n";
            }
        });
        work();
        return text;
    }
    /// The last reason for the end of a target.
    std::string last_reason() {
        const auto newest = jobs_.history().newest() + 1;
        for (const TargetChangePtr& change : jobs_.history().page(filtered, newest, 9).changes) {
            if (!change->reason.empty()) return change->reason;
        }
        return {};
    }

 private:
    k8s_sd::ScrapeJob job(const std::string& name, const std::string& app) const {
        k8s_sd::ScrapeJob job;
        job.scrape.job_name = job.discovery.name = name;
        job.scrape.relabel_configs = {keep_rule(label_of_app, app), keep_rule(label_of_port, "web"),
                                      copy_rule("__meta_kubernetes_namespace", "namespace")};
        job.discovery.sources = {source_};
        return job;
    }

    boost::asio::io_context strand_;
    boost::asio::io_context workers_;
    ServeMetrics metrics_;
    k8s_sd::TargetSource source_;
    k8s_sd::TargetGroupMaker maker_;
    ServedJobs jobs_;
};

constexpr auto of_monitor = FilteredJobs::filtered;
constexpr auto of_file = FilteredJobs::unfiltered;

}  // namespace

TEST_CASE("Filtered jobs: lists have the targets of a monitor, the page has the dropped ones") {
    FilteredJobs jobs;
    jobs.put("a", {{"cart", "web"}});
    jobs.put("b", {{"other", "web"}, {"other", "grpc"}});
    jobs.work();
    CHECK(jobs.count_words(of_monitor) == "3 discovered, 1 active, 2 dropped, 0 failed");
    const std::string list = jobs.list(of_monitor, ListForm::discovered);
    CHECK(list.find("a:0") != std::string::npos);
    CHECK(list.find("b:0") == std::string::npos);
    CHECK(jobs.table(of_monitor) == jobs.table(of_file));
    // These changes make no diff for the job.
    jobs.put("b", {{"other", "web"}});
    jobs.put("c", {{"cart", "grpc"}});
    jobs.work();
    CHECK(jobs.count_words(of_monitor) == "3 discovered, 1 active, 2 dropped, 0 failed");
    CHECK(jobs.table(of_monitor) == jobs.table(of_file));
    jobs.put("a", {{"gone", "web"}});
    jobs.work();
    CHECK(jobs.table(of_monitor) == jobs.table(of_file));
    CHECK(jobs.last_reason().starts_with("rule 0: "));
    jobs.clear();
    jobs.work();
    CHECK(jobs.table(of_monitor).empty());
    CHECK(jobs.count_words(of_monitor) == "0 discovered, 0 active, 0 dropped, 0 failed");
}

TEST_CASE("Filtered jobs: a monitor without targets says why, without a table") {
    const std::string begin = std::string("job ") + of_monitor + " has no targets: ";
    FilteredJobs jobs;
    jobs.work();
    CHECK(jobs.idle().starts_with(begin + "no target is discovered; "));
    jobs.put("a", {{"other", "web"}});
    jobs.work();
    CHECK(jobs.idle().starts_with(
        begin + "no Service in any namespace has the labels of the monitor's selector; "));
    jobs.put("b", {{"cart", "http"}, {"cart", "grpc"}, {"cart", ""}});
    jobs.work();
    CHECK(jobs.idle().starts_with(begin +
                                  "no Service that the monitor selects has a port named web; they "
                                  "have one without a name, grpc, http; "));
    jobs.put("b", {{"cart", "web"}});
    jobs.work();
    CHECK(jobs.idle().empty());
}

TEST_CASE("Filtered jobs: whatever happens, they are as those with all targets") {
    k8s_sd::test::for_each_seed("FILTERED_JOBS", 60, [](std::uint64_t seed) {
        k8s_sd::test::Random random(seed);
        FilteredJobs jobs;
        for (int step = 0; step < 40; ++step) {
            for (unsigned n = random.below(4); n > 0; --n) {
                std::vector<std::pair<std::string, std::string>> targets;
                for (unsigned i = random.below(4); i > 0; --i) {
                    targets.emplace_back(random.pick<std::string>({"cart", "shop"}),
                                         random.pick<std::string>({"web", "grpc", ""}));
                }
                jobs.put(random.numbered("g", 6), targets);
            }
            if (random.one_in(8)) jobs.use(random.pick<std::string>({"cart", "shop", "shop|cart"}));
            if (random.one_in(20)) jobs.clear();
            if (random.one_in(3)) jobs.table(of_monitor);
            jobs.work();
            if (!random.one_in(3)) continue;
            CHECK(jobs.table(of_monitor) == jobs.table(of_file));
            CHECK(jobs.count_words(of_monitor) == jobs.count_words(of_file));
            CHECK(jobs.listed(of_monitor) == jobs.listed(of_file));
        }
    });
}
