#include "jobs/job_targets.hpp"
#include "k8s_sd/target_group.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using k8s_sd::JobDiff;
using k8s_sd::LabelMap;
using k8s_sd::ProviderDiff;
using k8s_sd::ProviderId;
using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;
using k8s_sd::ScrapeConfig;
using k8s_sd::TargetGroupMaker;
using k8s_sd::TargetGroupPtr;
using k8s_sd_program::JobTargets;
using k8s_sd_program::ListContent;
using k8s_sd_program::ListForm;
using k8s_sd_program::ListMetrics;
using k8s_sd_program::ListSelection;
using k8s_sd_program::MetaNames;

namespace {

ScrapeConfig web_job(std::vector<RelabelRule> rules = {}) {
    ScrapeConfig config;
    config.job_name = "web";
    config.relabel_configs = std::move(rules);
    return config;
}

RelabelRule copy(std::string from, std::string to) {
    RelabelRule rule;
    rule.source_labels = {std::move(from)};
    rule.regex = "(.+)";  // a missing label is not copied
    rule.target_label = std::move(to);
    return rule;
}

RelabelRule keep(std::string label, std::string regex) {
    RelabelRule rule;
    rule.action = RelabelAction::keep;
    rule.source_labels = {std::move(label)};
    rule.regex = std::move(regex);
    return rule;
}

LabelMap at(const std::string& address, LabelMap more = {}) {
    more.emplace("__address__", address);
    return more;
}

/// A job whose provider 1 delivers groups, source by source.
class Web {
 public:
    explicit Web(ScrapeConfig config = web_job())
        : targets_(std::move(config), {}, metrics, &history) {
        targets_.expect({.needed = {1}});
    }
    JobTargets* operator->() { return &targets_; }

    void put(const std::string& source, const std::vector<LabelMap>& targets,
             const LabelMap& labels = {}, ProviderId provider = 1) {
        ProviderDiff diff{.provider = provider};
        const auto previous = groups_[{provider, source}];
        const auto now = targets.empty() ? nullptr : maker_.make(source, labels, targets);
        if (now) diff.diff.updated.push_back({now, previous, false});
        if (!now && previous) diff.diff.removed.push_back(previous);
        groups_[{provider, source}] = now;
        deliver(diff);
    }
    void deliver(ProviderDiff diff) {
        diff.diff.full = delivered_.insert(diff.provider).second;
        JobDiff job{.job = "web"};
        job.full = delivered_.size() == 1 && diff.diff.full;
        job.providers.push_back(std::move(diff));
        targets_.apply(job);
    }
    /// A diff of groups that the provider should have delivered before.
    void deliver_part(const std::string& source, const std::vector<LabelMap>& targets) {
        ProviderDiff diff{.provider = 1};
        diff.diff.updated.push_back({maker_.make(source, {}, targets), nullptr, false});
        targets_.apply({.job = "web", .providers = {diff}});
    }
    std::string text(ListForm form, const ListSelection& selection = {}) {
        return text(ListContent{form}, selection);
    }
    std::string text(const ListContent& content, const ListSelection& selection = {}) {
        return *targets_.body(content, selection, {})->bytes();
    }

    /// Of the latest change.
    std::string reason() { return history.page("", ~std::uint64_t{0}, 1).changes.at(0)->reason; }

    ListMetrics metrics;
    k8s_sd_program::ChangeHistory history;

 private:
    TargetGroupMaker maker_;
    std::map<std::pair<ProviderId, std::string>, TargetGroupPtr> groups_;
    std::set<ProviderId> delivered_;
    JobTargets targets_;
};

std::string list(std::initializer_list<std::string> groups) {
    std::string text = "[";
    const char* separator = "\n";
    for (const std::string& group : groups) {
        text += separator + group;
        separator = ",\n";
    }
    return text + "\n]\n";
}

}  // namespace

TEST_CASE("JobTargets: discovered targets have all labels, merged and sorted, but the address") {
    Web web;
    web.put("pod/a", {at("10.0.0.1:80", {{"__meta_b", "own"}, {"z", "1"}}), at("10.0.0.1:81")},
            {{"__meta_b", "group"}, {"__meta_a", ""}, {"__meta_c", "3"}});
    CHECK(web.text(ListForm::discovered) ==
          list({R"({"targets":["10.0.0.1:81"],"labels":{"__meta_b":"group","__meta_c":"3"}})",
                R"({"targets":["10.0.0.1:80"],)"
                R"("labels":{"__meta_b":"own","__meta_c":"3","z":"1"}})"}));
}

TEST_CASE("JobTargets: relabelled targets have what a reader without rules needs") {
    ScrapeConfig config = web_job({copy("__meta_name", "pod"), copy("__meta_name", "__tmp_x"),
                                   copy("__meta_interval", "__scrape_interval__")});
    config.params = {{"module", {"http"}}};
    Web web(config);
    web.put("pod/a", {at("10.0.0.1:80", {{"__meta_name", "a"}})});
    web.put("pod/b", {at("10.0.0.2:80",
                         {{"__meta_name", "b"}, {"__meta_interval", "15s"}, {"instance", "me"}})});
    CHECK(web.text(ListForm::relabelled) ==
          list({R"({"targets":["10.0.0.2:80"],"labels":{"__metrics_path__":"/metrics",)"
                R"("__param_module":"http","__scheme__":"http","__scrape_interval__":"15s",)"
                R"("instance":"me","job":"web","pod":"b"}})",
                R"({"targets":["10.0.0.1:80"],"labels":{"__metrics_path__":"/metrics",)"
                R"("__param_module":"http","__scheme__":"http","job":"web","pod":"a"}})"}));
}

TEST_CASE("JobTargets: a list for vmagent has an instance that vmagent would not set itself") {
    ScrapeConfig config = web_job({copy("__meta_instance", "instance")});
    config.dialect = k8s_sd::LabelDialect::victoriametrics;
    const auto labels_of = [&](const std::string& address, const std::string& instance) {
        Web web(config);
        web.put("pod/a", {at(address, {{"__meta_instance", instance}})});
        return boost::json::parse(web.text(ListForm::relabelled)).at(0).at("labels").as_object();
    };
    for (const char* address : {"h", "10.0.0.1", "http://h:1", "https://h/x", "h:1/x"}) {
        CAPTURE(address);
        CHECK(labels_of(address, address).at("instance").as_string() == address);
    }
    for (const char* address : {"10.0.0.1:80", "[fd00::1]:80"}) {
        CAPTURE(address);
        CHECK_FALSE(labels_of(address, address).contains("instance"));
        CHECK_FALSE(labels_of(address, "").contains("instance"));
        CHECK(labels_of(address, "me").at("instance").as_string() == "me");
    }
    CHECK(labels_of("h", "").at("instance").as_string() == "h:80");
}

TEST_CASE("JobTargets: a list for vmagent says which labels of the job a target does not have") {
    ScrapeConfig config = web_job();
    config.params = {{"module", {"http"}}};
    const LabelMap target = at("h:1", {{"job", ""}, {"__param_module", ""}, {"__meta_x", ""}});
    const auto labels_in = [&](ListForm form) {
        Web web(config);
        web.put("static/0", {target});
        return boost::json::parse(web.text(form)).at(0).at("labels");
    };
    CHECK_FALSE(labels_in(ListForm::discovered).as_object().contains("job"));
    CHECK(labels_in(ListForm::relabelled).at("job").as_string() == "web");

    config.dialect = k8s_sd::LabelDialect::victoriametrics;
    CHECK(labels_in(ListForm::discovered) ==
          boost::json::parse(R"({"__param_module":"","job":""})"));
    CHECK(labels_in(ListForm::relabelled) ==
          boost::json::parse(R"({"__metrics_path__":"/metrics","__param_module":"",
                                 "__scheme__":"http","job":""})"));
    config.relabel_configs.push_back(
        {.action = RelabelAction::labeldrop, .regex = "__scheme__|__metrics_path__"});
    CHECK(labels_in(ListForm::relabelled) ==
          boost::json::parse(R"({"__metrics_path__":"","__param_module":"","__scheme__":"",
                                 "job":""})"));
}

TEST_CASE("JobTargets: a list has the socket of a target from Prometheus 3.15 on") {
    ScrapeConfig config = web_job({copy("__meta_socket", "__unix_socket__")});
    const auto text_in = [&](k8s_sd::PrometheusVersion version) {
        config.prometheus_version = version;
        Web web(config);
        web.put("pod/a", {at("h:1", {{"__meta_socket", "/run/x.sock"}})});
        return web.text(ListForm::relabelled);
    };
    CHECK(text_in(k8s_sd::PrometheusVersion::v3_15).find(R"("__unix_socket__":"/run/x.sock")") !=
          std::string::npos);
    CHECK(text_in(k8s_sd::PrometheusVersion::v3_14).find("__unix_socket__") == std::string::npos);
}

TEST_CASE("JobTargets: labels about histograms are in a list where they differ from the job") {
    ScrapeConfig config = web_job({copy("__meta_native", "__scrape_native_histograms__")});
    config.always_scrape_classic_histograms = true;
    const auto text_in = [&](k8s_sd::PrometheusVersion version) {
        config.prometheus_version = version;
        Web web(config);
        web.put("pod/a", {at("10.0.0.1:80", {{"__meta_native", "true"}})});
        return web.text(ListForm::relabelled);
    };
    CHECK(text_in(k8s_sd::PrometheusVersion::v3_13) ==
          list({R"({"targets":["10.0.0.1:80"],"labels":{"__metrics_path__":"/metrics",)"
                R"("__scheme__":"http","__scrape_native_histograms__":"true","job":"web"}})"}));
    CHECK(text_in(k8s_sd::PrometheusVersion::v3_12) ==
          list({R"({"targets":["10.0.0.1:80"],"labels":{"__metrics_path__":"/metrics",)"
                R"("__scheme__":"http","job":"web"}})"}));
}

TEST_CASE("JobTargets: a reader chooses the labels of discovery that a list has") {
    Web web(web_job({copy("__meta_kubernetes_pod_name", "pod")}));
    web.put("pod/a", {at("10.0.0.1:80", {{"__meta_kubernetes_pod_name", "a"},
                                         {"__meta_kubernetes_pod_uid", "1"},
                                         {"__scheme__", "https"},
                                         {"team", "x"}})});
    CHECK(web.text({ListForm::discovered, MetaNames("__meta_*_name,__meta_x")}) ==
          list({R"({"targets":["10.0.0.1:80"],"labels":{"__meta_kubernetes_pod_name":"a",)"
                R"("__scheme__":"https","team":"x"}})"}));
    CHECK(web.text({ListForm::discovered, MetaNames("__meta_x")}) ==
          list({R"({"targets":["10.0.0.1:80"],"labels":{"__scheme__":"https","team":"x"}})"}));
    CHECK(web.text({ListForm::relabelled, MetaNames("otel")}) ==
          list({R"({"targets":["10.0.0.1:80"],"labels":{"__meta_kubernetes_pod_name":"a",)"
                R"("__meta_kubernetes_pod_uid":"1","__metrics_path__":"/metrics",)"
                R"("__scheme__":"https","job":"web","pod":"a","team":"x"}})"}));
}

TEST_CASE("JobTargets: a shard has the same targets whichever labels its reader chooses") {
    Web web(web_job({keep("__meta_keep", "yes")}));
    for (int i = 0; i < 20; ++i) {
        const std::string address = "h" + std::to_string(i) + "-:1";
        web.put(address, {at(address, {{"__meta_keep", i % 2 ? "yes" : "no"}})});
    }
    for (const unsigned shard : {0U, 1U, 2U}) {
        const ListSelection selection{{3, 1, false}, shard, ""};
        const std::string all = web.text(ListForm::discovered, selection);
        const std::string chosen =
            web.text({ListForm::discovered, MetaNames("__meta_none")}, selection);
        for (int i = 0; i < 20; ++i) {
            const std::string target = "\"h" + std::to_string(i) + "-:1\"";
            CHECK((all.find(target) == std::string::npos) ==
                  (chosen.find(target) == std::string::npos));
        }
    }
}

TEST_CASE("JobTargets: choices of labels have a limit, and those that are forgotten make room") {
    Web web;
    web.put("pod/a", {at("a:1")});
    const auto ask = [&](int number, k8s_sd_program::Listing::TimePoint now) {
        const ListContent content{ListForm::discovered,
                                  MetaNames("__meta_" + std::to_string(number))};
        return web->body(content, {}, now);
    };
    const k8s_sd_program::Listing::TimePoint begin{};
    const k8s_sd_program::ListLimits limits;
    for (int i = 0; i < static_cast<int>(limits.contents); ++i) ask(i, begin);
    CHECK_THROWS_WITH(ask(8, begin),
                      "readers choose 8 other sets of labels with meta or keep_meta, "
                      "which is the limit; they should agree on one");
    CHECK(web.text(ListForm::discovered) == *ask(0, begin + limits.forget_after / 2)->bytes());
    // A refusal is cheap and does not clean up. The job does so every minute.
    web->forget_unused(begin + limits.forget_after);
    CHECK(ask(8, begin + limits.forget_after));
    CHECK_FALSE(web->known_tag({ListForm::discovered, MetaNames("__meta_1")}, {}));
    CHECK(web->known_tag({ListForm::discovered, MetaNames("__meta_0")}, {}));
}

TEST_CASE("JobTargets: a choice that was asked for once makes room first") {
    using namespace std::chrono_literals;
    Web web;
    web.put("pod/a", {at("a:1")});
    const auto ask = [&](int number, std::chrono::seconds now) {
        const ListContent content{ListForm::discovered,
                                  MetaNames("__meta_" + std::to_string(number))};
        return web->body(content, {}, k8s_sd_program::Listing::TimePoint(now));
    };
    const auto is_known = [&](int number) {
        return web
            ->known_tag({ListForm::discovered, MetaNames("__meta_" + std::to_string(number))}, {})
            .has_value();
    };
    for (int i = 0; i < 8; ++i) ask(i, 0s);
    // An immediate retry does not count as a returning reader.
    ask(1, 1s);
    ask(0, 60s);
    CHECK_THROWS_AS(ask(8, 89s), k8s_sd_program::LimitReached);
    CHECK(ask(8, 91s));
    for (int i = 9; i < 15; ++i) CHECK(ask(i, 100s));
    CHECK(is_known(0));
    CHECK_FALSE(is_known(1));
    CHECK_THROWS_AS(ask(15, 110s), k8s_sd_program::LimitReached);
    // A returning reader keeps its list for longer.
    ask(8, 120s);
    CHECK_THROWS_AS(ask(15, 179s), k8s_sd_program::LimitReached);
    for (int i = 15; i < 21; ++i) CHECK(ask(i, 190s));
    CHECK(is_known(0));
    CHECK(ask(21, 210s));
    CHECK_FALSE(is_known(0));
    CHECK(is_known(8));
}

TEST_CASE("JobTargets: names without a label, and nodes without a target, are reported") {
    Web web;
    web.put("pod/a",
            {at("a:1",
                {{"__meta_kubernetes_pod_name", "a"}, {"__meta_kubernetes_pod_node_name", "n1"}})},
            {{"__meta_kubernetes_namespace", "shop"}, {"__meta_empty", ""}});
    const auto warning = [&](const std::string& names, const std::string& node = {}) {
        const ListContent content{ListForm::discovered, MetaNames(names)};
        ListSelection selection;
        selection.division.by_node = !node.empty();
        selection.node = node;
        web->body(content, selection, {});
        return web->warning(content, selection);
    };
    CHECK(warning("__meta_kubernetes_pod_name,__meta_*space").empty());
    CHECK(warning("__meta_kubernetes_pod_nam,__meta_empty,__meta_kubernetes_*") ==
          "no target of this job has a label __meta_empty,__meta_kubernetes_pod_nam");
    CHECK(warning("otel").empty());
    CHECK(warning("__meta_*", "n1").empty());
    CHECK(warning("__meta_*", "nope") == "no target of this job is on a node nope");
    CHECK(warning("__meta_x", "nope") ==
          "no target of this job has a label __meta_x; no target of this job is on a node nope");
    CHECK(warning("__meta_kubernetes_pod_label_new") != "");
    // The label appears.
    web.put("pod/b", {at("b:1", {{"__meta_kubernetes_pod_label_new", "1"}})});
    CHECK(warning("__meta_kubernetes_pod_label_new").empty());
}

TEST_CASE("JobTargets: the form of URLs has no hidden label") {
    Web web;
    web.put("pod/a", {at("10.0.0.1:80", {{"__metrics_path__", "/m"}, {"team", "x"}})});
    CHECK(web.text(ListForm::urls) ==
          list({R"({"targets":["http://10.0.0.1:80/m"],)"
                R"("labels":{"instance":"10.0.0.1:80","job":"web","team":"x"}})"}));
}

TEST_CASE("JobTargets: targets that relabelling makes equal are one, and stay while one is left") {
    Web web;
    web.put("pod/a", {at("10.0.0.1:80")});
    web.put("pod/b", {at("10.0.0.1:80")});
    const std::string one = web.text(ListForm::relabelled);
    web.put("pod/a", {});
    CHECK(web.text(ListForm::relabelled) == one);
    web.put("pod/b", {});
    CHECK(web.text(ListForm::relabelled) == "[]\n");
}

TEST_CASE("JobTargets: is complete for good once every provider has delivered its targets") {
    Web web;
    web->expect({.needed = {1, 2}});
    CHECK_FALSE(web->complete());
    web.put("pod/a", {at("x:1")});
    CHECK_FALSE(web->complete());
    web.deliver({.provider = 2});
    CHECK(web->complete());
    web->expect({.needed = {1, 2, 3}});
    CHECK(web->complete());
}

TEST_CASE("JobTargets: a configuration that cannot be used never completes") {
    Web web;
    web->expect({.usable = false});
    web.put("pod/a", {at("x:1")});
    CHECK_FALSE(web->complete());
    web->expect({.needed = {1}});
    CHECK(web->complete());
}

TEST_CASE(
    "JobTargets: a job of several clusters may begin with one of them, once this is accepted") {
    using Names = std::vector<std::string>;
    Web web;
    web->expect({.clusters = {{"blue", {1, 2}}, {"green", {3}}, {"red", {}, false}}});
    web.put("pod/a", {at("x:1")});
    CHECK(web->may_lack_clusters());
    web->accept_missing_clusters();
    CHECK_FALSE(web->complete());  // no cluster has all of its targets
    CHECK(web->missing_clusters() == Names{"blue", "green", "red"});
    web.deliver({.provider = 2});
    CHECK(web->complete());
    CHECK(web->missing_clusters() == Names{"green", "red"});
    CHECK_FALSE(web->may_lack_clusters());
    web.put("pod/c", {at("z:1")}, {}, 3);
    CHECK(web->missing_clusters() == Names{"red"});
    CHECK(web.text(ListForm::discovered) == list({R"({"targets":["x:1","z:1"],"labels":{}})"}));

    // The targets of a replaced configuration stay until the new one has been listed.
    web->expect({.clusters = {{"blue", {1, 2}}, {"green", {4}}, {"white", {5}}}});
    CHECK(web->missing_clusters() == Names{"white"});
    web->expect({.clusters = {{"blue", {1, 2}}, {"green", {6}}, {"white", {5}}}});
    CHECK(web->missing_clusters() == Names{"white"});
    web.deliver({.provider = 3, .last = true});
    CHECK(web->missing_clusters() == Names{"green", "white"});
    web->expect({.clusters = {{"blue", {1, 2}}}});
    CHECK(web->missing_clusters().empty());
}

TEST_CASE("JobTargets: a single cluster, and targets from elsewhere, are always waited for") {
    Web web;
    web->expect({.clusters = {{"blue", {1, 2}}}});
    CHECK_FALSE(web->may_lack_clusters());
    web->accept_missing_clusters();
    web.put("pod/a", {at("x:1")});
    CHECK_FALSE(web->complete());

    web->begin_anew();
    web->expect({.needed = {2}, .clusters = {{"blue", {1}}, {"green", {3}}}});
    web->accept_missing_clusters();
    CHECK_FALSE(web->complete());
    web.deliver({.provider = 2});
    CHECK(web->complete());

    web->begin_anew();
    web->expect({.clusters = {{"blue", {4}, false}, {"green", {}, false}}});
    CHECK_FALSE(web->may_lack_clusters());
}

TEST_CASE("JobTargets: a part of what a provider has is no list") {
    Web web;
    web.deliver_part("pod/a", {at("x:1")});
    CHECK_FALSE(web->complete());
    web.put("pod/b", {at("y:1")});
    CHECK(web->complete());
    CHECK(web.text(ListForm::discovered) == list({R"({"targets":["y:1"],"labels":{}})"}));
}

TEST_CASE("JobTargets: a job that begins anew is complete with what it has, or with what comes") {
    Web web;
    web.put("pod/a", {at("x:1")});
    web->begin_anew();
    CHECK_FALSE(web->complete());
    web->expect({.needed = {1}});
    CHECK(web->complete());
    web->begin_anew();
    web->expect({.needed = {1, 2}});
    CHECK_FALSE(web->complete());
    web.deliver({.provider = 2});
    CHECK(web->complete());
}

TEST_CASE("JobTargets: a job without any configuration is complete and empty") {
    Web web;
    web->expect({});
    CHECK(web->complete());
    CHECK(web.text(ListForm::discovered) == "[]\n");
}

TEST_CASE("JobTargets: only changed groups are serialised again") {
    Web web;
    for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string(i);
        web.put("pod/" + name, {at(name + ":80"), at(name + ":81")});
    }
    CHECK(web.metrics.serialised == 0);  // no reader has requested it
    web.text(ListForm::discovered);
    CHECK(web.metrics.serialised == 100);
    web.text(ListForm::discovered, {{2, 1, false}, 0, ""});
    CHECK(web.metrics.serialised == 100);
    web.put("pod/7", {at("7:80"), at("7:82")});
    web.text(ListForm::discovered);
    CHECK(web.metrics.serialised == 102);
    CHECK(web.metrics.bodies == 3);
    web.text(ListForm::relabelled);
    CHECK(web.metrics.serialised == 202);
    web.put("pod/8", {});
    web.put("pod/9", {at("9:80"), at("9:83")});
    web.text(ListForm::relabelled);
    CHECK(web.metrics.serialised == 206);  // both targets of the group, in both lists
}

TEST_CASE(
    "JobTargets: of very many targets that are the same after relabelling a change costs one") {
    RelabelRule same;
    same.target_label = "__address__";
    same.replacement = "same:1";
    Web web(web_job({same}));
    constexpr unsigned many = 500;
    for (unsigned i = 0; i < many; ++i) {
        web.put("pod/" + std::to_string(i), {at(std::to_string(i) + ":80")});
    }
    web.text(ListForm::collector);
    CHECK(web.metrics.serialised == many);
    // The new reader, and the one that replaces a departed reader.
    for (unsigned i = 0; i < many; ++i) {
        const auto before = web.metrics.serialised.load();
        web.put("pod/" + std::to_string(i), {at(std::to_string(i) + ":81")});
        CHECK(web.metrics.serialised - before <= 2);
    }
    const std::string text = web.text(ListForm::collector);
    for (unsigned i = 0; i < many; ++i) {
        const std::string source = "pod/" + std::to_string(i);
        if (text.find('"' + std::to_string(i) + ":81") == text.npos) web.put(source, {});
    }
    CHECK(web.text(ListForm::collector) == text);
}

TEST_CASE(
    "JobTargets: a reload with the same rules keeps everything, other rules make other lists") {
    Web web(web_job({copy("__meta_a", "a")}));
    web.put("pod/a", {at("x:1", {{"__meta_a", "1"}, {"__meta_b", "2"}})});
    const auto before = web->body({ListForm::relabelled}, {}, {});
    const std::vector<ProviderId> providers{1};
    web->reload(web_job({copy("__meta_a", "a")}), providers);
    CHECK(web->body({ListForm::relabelled}, {}, {}) == before);
    web->reload(web_job({copy("__meta_b", "b")}), providers);
    const auto text = web.text(ListForm::relabelled);
    CHECK(text.find(R"("b":"2")") != std::string::npos);
    CHECK(text.find(R"("a":"1")") == std::string::npos);
    web->reload(web_job({copy("__meta_a", "a")}), providers);
    CHECK(web->body({ListForm::relabelled}, {}, {})->tag() == before->tag());
}

TEST_CASE("JobTargets: an interval that becomes the job's is left out, as a fresh start would") {
    const auto rule = copy("__meta_interval", "__scrape_interval__");
    ScrapeConfig before = web_job({rule});
    ScrapeConfig now = before;
    now.scrape_interval = std::chrono::seconds(30);
    const auto fill = [](Web& web) { web.put("pod/a", {at("x:1", {{"__meta_interval", "30s"}})}); };
    Web reloaded(before);
    fill(reloaded);
    CHECK(reloaded.text(ListForm::relabelled).find("30s") != std::string::npos);
    reloaded->reload(now, std::vector<ProviderId>{1});
    Web fresh(now);
    fill(fresh);
    CHECK(reloaded.text(ListForm::relabelled) == fresh.text(ListForm::relabelled));
    CHECK(fresh.text(ListForm::relabelled).find("30s") == std::string::npos);
}

TEST_CASE("JobTargets: two clusters with objects of one name are both listed") {
    Web web;
    web->expect({.needed = {1, 2}});
    web.put("pod/a", {at("x:1")}, {}, 1);
    web.put("pod/a", {at("y:1")}, {}, 2);
    const std::string both = list({R"({"targets":["x:1","y:1"],"labels":{}})"});
    CHECK(web.text(ListForm::discovered) == both);
    web.put("pod/a", {}, {}, 1);
    CHECK(web.text(ListForm::discovered) == list({R"({"targets":["y:1"],"labels":{}})"}));
}

TEST_CASE("JobTargets: a discovered target is on the shard that scrapes it; what is dropped is on "
          "one, too") {
    Web web(web_job({keep("__meta_keep", "yes"), copy("__meta_to", "__address__")}));
    for (int i = 0; i < 30; ++i) {
        const std::string name = std::to_string(i);
        web.put("pod/" + name, {at("from" + name + "-:1", {{"__meta_keep", i % 2 ? "yes" : "no"},
                                                           {"__meta_to", "to" + name + "-:1"}})});
    }
    for (int i = 0; i < 30; ++i) {
        int found = 0;
        for (unsigned s = 0; s < 3; ++s) {
            const ListSelection shard{{3, 1, false}, s, ""};
            const auto has = [&](ListForm form, const std::string& text) {
                return web.text(form, shard).find('"' + text + std::to_string(i) + "-:1\"") !=
                       std::string::npos;
            };
            const bool here = has(ListForm::discovered, "from");
            found += here ? 1 : 0;
            if (i % 2) CHECK(here == has(ListForm::relabelled, "to"));
        }
        CHECK(found == 1);
    }
}

TEST_CASE("JobTargets: the operator's mark keeps a target on all shards") {
    RelabelRule everywhere;
    everywhere.target_label = "__tmp_disable_sharding";
    everywhere.replacement = "true";
    Web web(web_job({everywhere}));
    web.put("pod/a", {at("x:1")});
    for (unsigned s = 0; s < 3; ++s) {
        const ListSelection shard{{3, 1, false}, s, ""};
        CHECK(web.text(ListForm::relabelled, shard) == web.text(ListForm::relabelled));
        CHECK(web.text(ListForm::discovered, shard) == web.text(ListForm::discovered));
    }
}

TEST_CASE("JobTargets: the node is that of the pod, of the endpoint, or the target itself") {
    const std::vector<LabelMap> labels{
        {{"__meta_kubernetes_pod_node_name", "n"}},
        {{"__meta_kubernetes_node_name", "n"}},
        {{"__meta_kubernetes_endpointslice_endpoint_node_name", "n"}},
        {{"__meta_kubernetes_endpoint_node_name", "n"}},
        {{"__meta_kubernetes_endpointslice_address_target_kind", "Node"},
         {"__meta_kubernetes_endpointslice_address_target_name", "n"}},
        {{"__meta_kubernetes_endpoint_address_target_kind", "Node"},
         {"__meta_kubernetes_endpoint_address_target_name", "n"}},
        {{"__meta_kubernetes_endpoint_address_target_kind", "Pod"},
         {"__meta_kubernetes_endpoint_address_target_name", "n"}}};
    Web web;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        web.put(std::to_string(i), {at("t" + std::to_string(i), labels[i])});
    }
    for (const ListForm form : {ListForm::discovered, ListForm::relabelled}) {
        const auto groups = boost::json::parse(web.text(form, {{0, 1, true}, 0, "n"})).as_array();
        std::size_t targets = 0;
        for (const auto& group : groups) targets += group.at("targets").as_array().size();
        CHECK(targets == 6);
    }
}

TEST_CASE("JobTargets: a pod that moves leaves the list of its node although its labels stay") {
    Web web;
    const auto pod_on = [&](const std::string& node) {
        web.put("pod/a", {at("x:1", {{"__meta_kubernetes_pod_node_name", node}})});
    };
    pod_on("n1");
    const ListSelection first{{0, 1, true}, 0, "n1"};
    const ListSelection second{{0, 1, true}, 0, "n2"};
    CHECK(web.text(ListForm::relabelled, first) == web.text(ListForm::relabelled));
    pod_on("n2");
    CHECK(web.text(ListForm::relabelled, first) == "[]\n");
    CHECK(web.text(ListForm::relabelled, second) == web.text(ListForm::relabelled));
}

TEST_CASE(
    "JobTargets: a target of pods of several nodes is on each of them, whichever came first") {
    const auto pod_on = [](const std::string& node) {
        return std::vector<LabelMap>{
            at("svc.example:80", {{"__meta_kubernetes_pod_node_name", node}})};
    };
    Web web;
    Web other;
    for (const std::string node : {"n0", "n1", "n2"}) web.put("pod/" + node, pod_on(node));
    for (const std::string node : {"n2", "n1", "n0"}) other.put("pod/" + node, pod_on(node));
    const std::string whole = web.text(ListForm::relabelled);
    for (const std::string node : {"n0", "n1", "n2"}) {
        const ListSelection selection{{0, 1, true}, 0, node};
        CHECK(web.text(ListForm::relabelled, selection) == whole);
        CHECK(other.text(ListForm::relabelled, selection) == whole);
    }
    web.put("pod/n0", {});
    CHECK(web.text(ListForm::relabelled, {{0, 1, true}, 0, "n0"}) == "[]\n");
    CHECK(web.text(ListForm::relabelled, {{0, 1, true}, 0, "n1"}) == whole);
}

TEST_CASE(
    "JobTargets: targets of a provider that is being replaced keep their rules in all lists") {
    Web web(web_job({keep("__meta_pod", "yes"), copy("__meta_to", "__address__")}));
    web.put("pod/a", {at("x:1", {{"__meta_pod", "yes"}, {"__meta_to", "y:1"}})});
    const std::map<ListForm, std::string> before{
        {ListForm::collector, web.text(ListForm::collector)},
        {ListForm::relabelled, web.text(ListForm::relabelled)},
        {ListForm::discovered, web.text(ListForm::discovered, {{3, 1, false}, 1, ""})}};
    CHECK(before.at(ListForm::collector) != "[]\n");
    web->reload(web_job({keep("__meta_node", "yes")}), std::vector<ProviderId>{2});
    CHECK(web.text(ListForm::collector) == before.at(ListForm::collector));
    CHECK(web.text(ListForm::relabelled) == before.at(ListForm::relabelled));
    CHECK(web.text(ListForm::discovered, {{3, 1, false}, 1, ""}) ==
          before.at(ListForm::discovered));
    web.put("node/a", {at("z:1", {{"__meta_node", "yes"}})}, {}, 2);
    CHECK(web.text(ListForm::collector).find("z:1") != std::string::npos);
}

TEST_CASE("JobTargets: with legacy names a list leaves other labels out, and they are counted") {
    ScrapeConfig config = web_job({copy("__meta_a", "a.b"), copy("__meta_a", "c")});
    config.metric_name_validation_scheme = k8s_sd::NameValidation::legacy;
    Web web(config);
    web.put("pod/a", {at("x:1", {{"__meta_a", "1"}})});
    const std::string text = web.text(ListForm::relabelled);
    CHECK(text.find("a.b") == std::string::npos);
    CHECK(text.find(R"("c":"1")") != std::string::npos);
    CHECK(web.metrics.left_out_labels == 1);
}

TEST_CASE("JobTargets: hostile texts of labels come through as they are") {
    const std::vector<std::string> texts{"\"},{\"targets\":[\"evil:1\"]",
                                         "</script><img src=x onerror=alert(1)>",
                                         "a\nb\tc\\",
                                         "%{HOME}",
                                         "\xe2\x80\xae txt.exe",
                                         "\xe2\x80\xa8",
                                         std::string(256 << 10, '"'),
                                         std::string("\0x", 2)};
    Web web(web_job({copy("__meta_kubernetes_pod_annotation_x", "x")}));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        web.put(
            "pod/" + std::to_string(i),
            {at(std::to_string(i) + ":80", {{"__meta_kubernetes_pod_annotation_x", texts[i]}})});
    }
    for (const auto& [form, label] : std::map<ListForm, std::string>{
             {ListForm::discovered, "__meta_kubernetes_pod_annotation_x"},
             {ListForm::relabelled, "x"},
             {ListForm::urls, "x"}}) {
        const std::string text = web.text(form);
        CHECK(text.find("%{") == std::string::npos);
        std::map<std::string, std::string> read;
        const boost::json::value groups = boost::json::parse(text);
        for (const auto& group : groups.as_array()) {
            REQUIRE(group.at("targets").as_array().size() == 1);
            std::string target(group.at("targets").as_array().at(0).as_string());
            if (form == ListForm::urls) target = target.substr(7, target.find(':', 7) - 7) + ":80";
            read[target] = group.at("labels").at(label).as_string();
        }
        REQUIRE(read.size() == texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i)
            CHECK(read[std::to_string(i) + ":80"] == texts[i]);
    }
}

TEST_CASE("JobTargets: lists without requests are dropped, and made again on request") {
    Web web;
    web.put("pod/a", {at("x:1")});
    const std::string text = web.text(ListForm::relabelled);
    web->forget_unused(k8s_sd_program::Listing::TimePoint() + std::chrono::hours(1));
    web.put("pod/b", {at("y:1")});
    CHECK(web.metrics.serialised == 1);
    web.put("pod/b", {});
    CHECK(web.text(ListForm::relabelled) == text);
    CHECK(web.metrics.serialised == 2);
}

TEST_CASE("JobTargets: whatever happened, the lists are those of a fresh start") {
    std::mt19937 random(11);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    const auto text = [&](unsigned end) { return std::to_string(below(end)); };
    const std::vector<ScrapeConfig> configs{
        web_job(), web_job({copy("__meta_a", "a"), keep("__meta_b", "[01]")}),
        web_job({copy("__meta_a", "__address__"), copy("__meta_b", "__tmp_disable_sharding")})};
    const std::vector<ListSelection> selections{
        {}, {{3, 1, false}, 1, ""}, {{3, 2, false}, 0, ""}, {{2, 1, true}, 1, "n0"}};
    const std::vector<ListContent> contents{
        {ListForm::discovered},
        {ListForm::relabelled},
        {ListForm::urls},
        {ListForm::collector},
        {ListForm::discovered, MetaNames("__meta_b")},
        {ListForm::relabelled, MetaNames("__meta_kubernetes_*node_name")}};
    for (int history = 0; history < 30; ++history) {
        ScrapeConfig config = configs[below(3)];
        Web web(config);
        std::map<std::string, std::vector<LabelMap>> groups;
        for (int step = 0; step < 40; ++step) {
            const std::string source = text(6);
            std::vector<LabelMap> targets;
            for (unsigned i = below(4); i > 0; --i) {
                const std::string address = text(5);
                targets.push_back(
                    at("h" + address + ":1", {{"__meta_a", "h" + address + ":2"},
                                              {"__meta_b", text(3)},
                                              {"__meta_kubernetes_pod_node_name", "n" + text(3)}}));
            }
            groups[source] = targets;
            web.put(source, targets);
            if (below(8) == 0) {
                config = configs[below(3)];
                web->reload(config, std::vector<ProviderId>{1});
            }
            if (below(3) == 0) web.text(contents[below(6)], selections[below(4)]);
            if (below(20) == 0) web->forget_unused(k8s_sd_program::Listing::TimePoint::max());
        }
        Web fresh(config);
        for (const auto& [source, targets] : groups) fresh.put(source, targets);
        for (const ListContent& content : contents) {
            for (const ListSelection& selection : selections) {
                CHECK(web.text(content, selection) == fresh.text(content, selection));
            }
        }
    }
}

TEST_CASE("JobTargets: remembers why a target is none any more") {
    Web web(web_job({keep("__meta_ready", "yes")}));
    const LabelMap ready{{"__meta_ready", "yes"}};
    web.put("other", {at("o:1", ready)});
    web.put("pod/a", {at("a:1", ready), at("a:2", ready)});
    web.put("pod/a", {at("a:1", ready), at("a:2", {{"__meta_ready", "no"}})});
    CHECK(web.reason() == "rule 0: keep if __meta_ready matches yes");
    web.put("pod/a", {at("a:2", ready)});
    web.put("pod/a", {at("a:2", {{"__meta_ready", "no"}})});
    CHECK(web.reason() == "rule 0: keep if __meta_ready matches yes");
    web.put("pod/a", {at("a:2", ready), at("a:3", ready)});
    CHECK(web.reason().empty());  // it arrived
    web.put("pod/a", {at("a:3", ready)});
    CHECK(web.reason() == "its object no longer has this target");
    web.put("pod/a", {});
    CHECK(web.reason() == "its object is gone");
    web->reload(web_job({keep("__meta_ready", "never")}), std::vector<ProviderId>{1});
    CHECK(web.reason() == "rule 0: keep if __meta_ready matches never");
}

TEST_CASE("JobTargets: counts what becomes of the targets") {
    Web web(web_job({keep("__meta_keep", "yes")}));
    web.put("pod/a",
            {at("x:1", {{"__meta_keep", "yes"}}), at("y:1"), at("a/b", {{"__meta_keep", "yes"}})});
    const k8s_sd_program::JobTargetCounts counts = web->counts();
    CHECK(counts.discovered == 3);
    CHECK(counts.active == 1);
    CHECK(counts.dropped == 1);
    CHECK(counts.failed == 1);
}
