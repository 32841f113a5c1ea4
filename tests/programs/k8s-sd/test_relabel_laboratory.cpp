#include "api/object_question.hpp"
#include "api/remedy.hpp"
#include "jobs/job_yaml.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "lists/list_selection.hpp"
#include "table/laboratory.hpp"
#include "table/rule_text.hpp"
#include "table/shard_counts.hpp"
#include "table/target_owners.hpp"
#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/errc.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd_program::Laboratory;
using k8s_sd_program::ObjectQuestion;
namespace json = boost::json;

namespace {

/// All targets, this many rows per call. \returns the number of calls
std::size_t try_on_all(Laboratory& laboratory, const k8s_sd_program::TargetTable& table,
                       std::size_t rows) {
    bool more = true;
    std::size_t times = 0;
    for (; more; ++times) {
        more = laboratory.take(table, rows_at_most(rows));
        while (laboratory.try_on_taken([] { return false; })) {
        }
    }
    laboratory.read_examples(table);
    return times;
}

/// The reason why rules cannot be tried; empty: they can.
std::string refusal_of(const std::string& yaml) {
    try {
        (void)k8s_sd_program::read_tried_rules(yaml, TableJob::config_with({}));
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

std::string doubling_rules(int count) {
    std::string rules =
        "- &r {source_labels: [x], target_label: x, regex: (.*), replacement: $1$1}\n";
    for (int i = 1; i < count; ++i) rules += "- *r\n";
    return rules;
}

/// The laboratory's result for these labels.
json::object trial_of(const std::string& rules, const LabelMap& labels) {
    ScrapeConfig config = TableJob::config_with({});
    config.relabel_configs = k8s_sd_program::read_tried_rules(rules, config);
    Laboratory laboratory(config);
    laboratory.try_on(labels);
    const std::string text = laboratory.text();
    CHECK(text.size() < std::size_t{32} << 20);
    return json::parse(text).as_object();
}

}  // namespace

TEST_CASE("Laboratory: reports the changes of other rules, of each kind") {
    TableJob job({TableJob::rule(RelabelAction::keep, "__meta_old", "1")});
    job.put("a", {{{"__address__", "stays"}, {"__meta_old", "1"}, {"__meta_new", "1"}}});
    job.put("b", {{{"__address__", "lost"}, {"__meta_old", "1"}}});
    job.put("c", {{{"__address__", "gained"}, {"__meta_new", "1"}}});
    job.put("d", {{{"__address__", "changed"},
                   {"__meta_old", "1"},
                   {"__meta_new", "1"},
                   {"__meta_x", "1"}}});
    job.put("e", {{{"__address__", "never"}}});
    Laboratory laboratory(TableJob::config_with(
        {TableJob::rule(RelabelAction::keep, "__meta_new", "1"), TableJob::copy("__meta_x", "x")}));
    CHECK(try_on_all(laboratory, job.table, 2) == 3);
    const auto effect = json::parse(laboratory.text()).at("effect").as_object();
    CHECK(effect.at("active_before") == 3);
    CHECK(effect.at("active_after") == 3);
    CHECK(effect.at("gained") == 1);
    CHECK(effect.at("lost") == 1);
    CHECK(effect.at("changed") == 1);
    CHECK(effect.at("complete") == true);
    CHECK(effect.at("examples").at("gained").at(0).at("address") == "gained");
    const auto& lost = effect.at("examples").at("lost").at(0);
    CHECK(lost.at("address") == "lost");
    CHECK(lost.at("before") == "active");
    CHECK(lost.at("after") == "dropped");
    CHECK(json::serialize(effect.at("examples").at("changed").at(0).at("labels_diff")) ==
          R"({"added":{"x":"1"},"changed":{},"removed":{}})");
    CHECK(job.table.counts().of(k8s_sd_program::TargetState::active) == 3);
}

TEST_CASE("Laboratory: the same rules change nothing, however many targets are duplicates") {
    const std::vector<RelabelRule> rules{TableJob::copy("__meta_to", "__address__")};
    TableJob job(rules);
    for (const std::string n : {"a", "b", "c"}) {
        job.put(n, {{{"__address__", n}, {"__meta_to", "same"}}});
    }
    Laboratory laboratory(TableJob::config_with(rules));
    try_on_all(laboratory, job.table, 100);
    const auto effect = json::parse(laboratory.text()).at("effect").as_object();
    CHECK(effect.at("active_before") == 1);
    CHECK(effect.at("active_after") == 1);
    CHECK(effect.at("gained") == 0);
    CHECK(effect.at("changed") == 0);
}

TEST_CASE("Laboratory: a target that several rows have counts once") {
    TableJob job({TableJob::copy("__meta_to", "__address__")});
    for (const std::string n : {"a", "b", "c"}) {
        job.put(n, {{{"__address__", n}, {"__meta_to", "same"}, {"__meta_n", n}}});
    }
    const auto effect_of = [&](const RelabelRule& rule) {
        Laboratory laboratory(
            TableJob::config_with({TableJob::copy("__meta_to", "__address__"), rule}));
        try_on_all(laboratory, job.table, 100);
        return json::parse(laboratory.text()).at("effect").as_object();
    };
    auto effect = effect_of(TableJob::rule(RelabelAction::drop, "__address__", "same"));
    CHECK(effect.at("active_before") == 1);
    CHECK(effect.at("active_after") == 0);
    CHECK(effect.at("lost") == 1);
    CHECK(effect.at("examples").at("lost").as_array().size() == 1);
    // As long as one row keeps the value, it is not lost.
    effect = effect_of(TableJob::rule(RelabelAction::drop, "__meta_n", "a|b"));
    CHECK(effect.at("active_after") == 1);
    CHECK(effect.at("lost") == 0);
    CHECK(effect.at("examples").at("lost").as_array().empty());
}

TEST_CASE("Laboratory: shows each step as a difference") {
    TableJob job;
    Laboratory laboratory(TableJob::config_with(
        {TableJob::copy("__meta_a", "a"), TableJob::copy("__meta_a", "b"),
         TableJob::rule(RelabelAction::labeldrop, "", "b"),
         TableJob::rule(RelabelAction::drop, "a", "1"), TableJob::copy("__meta_a", "c")}));
    laboratory.try_on({{"__address__", "x:1"}, {"__meta_a", "1"}, {"a", "0"}});
    const auto received = json::parse(laboratory.text()).as_object();
    const auto& steps = received.at("steps").as_array();
    REQUIRE(steps.size() == 4);
    CHECK(json::serialize(steps[0].at("changed")) == R"({"a":["0","1"]})");
    CHECK(json::serialize(steps[1].at("added")) == R"({"b":"1"})");
    CHECK(json::serialize(steps[2].at("removed")) == R"({"b":"1"})");
    CHECK(steps[3].at("keep") == false);
    CHECK(received.at("state") == "dropped");
    CHECK(received.at("labels").is_null());
}

TEST_CASE("Laboratory: rules that make much of little end at a limit, named with the rule") {
    // These took gigabytes: 2^24 bytes, and as much again for each step.
    for (const int count : {25, 32, 1000}) {
        const auto received = trial_of(doubling_rules(count), {{"__address__", "a:1"}, {"x", "a"}});
        CHECK(received.at("state") == "failed");
        CHECK(received.at("reason") ==
              "failed: relabel_configs[19]: the rules make more than 4194304 bytes of this label "
              "set, which is the limit");
        CHECK(received.at("labels").is_null());
    }
    const auto copies = trial_of("- {action: labelmap, regex: (.*), replacement: '${1}_1'}\n"
                                 "- {action: labelmap, regex: (.*), replacement: '${1}_2'}\n",
                                 {{"__address__", "a:1"}, {"x", std::string(60'000, 'v')}});
    CHECK(copies.at("state") == "active");
}

TEST_CASE("Laboratory: steps are shown as far as there is room") {
    // Each step has all labels.
    std::string rules = "- &r {source_labels: [y], target_label: z}\n";
    for (int i = 1; i < 1000; ++i) rules += "- *r\n";
    const auto received =
        trial_of(rules, {{"__address__", "a:1"}, {"x", std::string(60'000, 'v')}, {"y", "1"}});
    const std::size_t shown = received.at("steps").as_array().size();
    CHECK(shown > 10);
    CHECK(shown + received.at("steps_left_out").to_number<std::size_t>() == 1000);
    CHECK(received.at("state") == "active");
    CHECK_FALSE(trial_of("- {source_labels: [y], target_label: z}", {{"__address__", "a:1"}})
                    .contains("steps_left_out"));
}

TEST_CASE("Laboratory: a row beyond a limit is lost, and its example says why") {
    TableJob job;
    job.put("a", {{{"__address__", "a:1"}, {"x", "1"}}});
    job.put("b", {{{"__address__", "b:1"}}});
    ScrapeConfig config = TableJob::config_with({});
    config.relabel_configs = k8s_sd_program::read_tried_rules(doubling_rules(25), config);
    Laboratory laboratory(config);
    try_on_all(laboratory, job.table, 100);
    const auto effect = json::parse(laboratory.text()).at("effect").as_object();
    CHECK(effect.at("lost") == 1);
    CHECK(effect.at("active_after") == 1);
    const auto& lost = effect.at("examples").at("lost").at(0);
    CHECK(lost.at("after") == "failed");
    CHECK(std::string(lost.at("failure").as_string())
              .starts_with("relabel_configs[19]: the rules make "));
}

TEST_CASE("Laboratory: an example that is gone meanwhile is left out") {
    TableJob job;
    job.put("a", {{{"__address__", "a:1"}}});
    Laboratory laboratory(
        TableJob::config_with({TableJob::rule(RelabelAction::drop, "__address__", "a.*")}));
    CHECK_FALSE(laboratory.take(job.table, rows_at_most(100)));
    job.table.remove(1, "a");
    CHECK_FALSE(laboratory.try_on_taken([] { return true; }));
    laboratory.read_examples(job.table);
    const auto effect = json::parse(laboratory.text()).at("effect").as_object();
    CHECK(effect.at("lost") == 1);
    CHECK(effect.at("examples").at("lost").as_array().empty());
}

TEST_CASE("read_tried_rules: rules have limits, with what anchors stand for") {
    CHECK(refusal_of(doubling_rules(1000)).empty());
    CHECK(refusal_of(doubling_rules(1001)) == "rules: there can be 1000 at most");
    // 60 KB of text, a hundred times.
    std::string anchors =
        "- &r {target_label: t, replacement: '" + std::string(60'000, 'a') + "'}\n";
    for (int i = 0; i < 100; ++i) anchors += "- *r\n";
    CHECK(refusal_of(anchors).starts_with("rules: are longer than 262144 bytes together"));
    std::string names = "- &r {target_label: t, source_labels: [a";
    for (int i = 0; i < 5000; ++i) names += ",a";
    names += "]}\n";
    for (int i = 0; i < 10; ++i) names += "- *r\n";
    CHECK(refusal_of(names).starts_with("rules: are longer than 262144 bytes together"));
}

TEST_CASE("read_tried_rules: large regular expressions are refused, few or many") {
    const std::string large = R"(- {target_label: t, regex: '(?i)(\pL{20}){20}')";
    CHECK(refusal_of(large + "}").find("pattern too large") != std::string::npos);
    std::string many;
    for (int i = 0; i < 800; ++i) {
        many += "- {target_label: t, regex: '(?i)\\pL{3}" + std::to_string(i) + "'}\n";
    }
    CHECK(refusal_of(many).find("larger than 32768 instructions together") != std::string::npos);
    // Rules as in real jobs are not refused.
    std::string usual;
    for (int i = 0; i < 60; ++i) {
        usual += "- {source_labels: [a, b], target_label: t, regex: '(.+?)(?::\\d+)?;(\\d+)" +
                 std::to_string(i) + "', replacement: '$1:$2'}\n";
    }
    CHECK(refusal_of(usual).empty());
}

TEST_CASE("to_yaml: the rules can be read again, whatever is in them") {
    std::vector<RelabelRule> rules{TableJob::copy("__meta_a", "b"),
                                   TableJob::rule(RelabelAction::drop, "x", "a: #'\"\n|\\d+"),
                                   TableJob::rule(RelabelAction::labelmap, "", "__meta_(.+)")};
    rules.emplace_back();
    rules.back().action = RelabelAction::hashmod;
    rules.back().source_labels = {"a", "b: c"};
    rules.back().separator = "";
    rules.back().modulus = 8;
    rules.back().target_label = "t";
    CHECK(parse_relabel_configs(k8s_sd_program::to_yaml(rules)) == rules);
}

TEST_CASE("in_words: says what a rule looks at") {
    CHECK(k8s_sd_program::in_words(TableJob::rule(RelabelAction::drop, "phase", "A|B")) ==
          "drop if phase matches A|B");
    RelabelRule rule = TableJob::rule(RelabelAction::keepequal, "a", "(.*)");
    rule.source_labels.push_back("b");
    rule.target_label = "c";
    CHECK(k8s_sd_program::in_words(rule) == "keep if a;b is c");
    rule.if_ = {"{x=\"1\"}"};
    CHECK(k8s_sd_program::in_words(rule) == "keep if a;b is c if {x=\"1\"}");
}

TEST_CASE("ObjectQuestion: finds the targets of pods, services, nodes and addresses") {
    TableJob job;
    job.put_pod("web-1", "10.0.0.1:80",
                {{"__meta_kubernetes_pod_node_name", "n1"},
                 {"__meta_kubernetes_pod_ip", "10.0.0.9"},
                 {"__meta_kubernetes_service_name", "web"}});
    job.put("node/n2", {{{"__address__", "[fe80::1]:10250"},
                         {"__meta_kubernetes_node_name", "n2"},
                         {"__meta_kubernetes_node_address_InternalIP", "10.1.1.1"}}});
    const auto asked = [&](const std::string& text, const std::string& address) {
        return ObjectQuestion(text).object_of(*job.row(address));
    };
    for (const std::string text :
         {"web-1", "pod/shop/web-1", "10.0.0.1", "10.0.0.9", " web-1\n", "shop/web-1",
          "po/shop/web-1", "pods/shop/web-1", "pod/web-1", "10.0.0.1:80",
          "http://10.0.0.1:80/metrics", "http://10.0.0.1/metrics?x=/"}) {
        CHECK(asked(text, "10.0.0.1:80") == "pod/shop/web-1");
        CHECK(asked(text, "[fe80::1]:10250").empty());
    }
    for (const std::string text :
         {"web", "service/shop/web", "svc/shop/web", "svc/web", "shop/web", "services/web"}) {
        CHECK(asked(text, "10.0.0.1:80") == "service/shop/web");
    }
    for (const std::string text : {"n1", "node/n1", "no/n1", "nodes/n1"})
        CHECK(asked(text, "10.0.0.1:80") == "node/n1");
    for (const std::string text : {"n2", "node/n2", "fe80::1", "10.1.1.1", "[fe80::1]:10250"}) {
        CHECK(asked(text, "[fe80::1]:10250") == "node/n2");
    }
    for (const std::string text :
         {"pod/other/web-1", "other/web-1", "web-", "/", "pod/", "node/web-1", "node/shop/n1",
          "10.0.0.1:8", "10.0.0.1:81", "http://10.0.0.2:80/metrics", "://", "svc/web-1"}) {
        CHECK(asked(text, "10.0.0.1:80").empty());
    }
    CHECK_THROWS_AS(ObjectQuestion(""), k8s_sd_program::BadRequest);
    CHECK_THROWS_AS(ObjectQuestion(std::string(2000, 'x')), k8s_sd_program::BadRequest);
}

TEST_CASE("ObjectQuestion: a star at the end finds all names that begin so") {
    TableJob job;
    job.put_pod("web-1", "10.0.0.1:80", {{"__meta_kubernetes_pod_node_name", "n1"}});
    const auto asked = [&](const std::string& text) {
        return ObjectQuestion(text).object_of(*job.row("10.0.0.1:80"));
    };
    for (const std::string text : {"web*", "pod/shop/w*", "shop/web-1*", "po/web-*"}) {
        CHECK(asked(text) == "pod/shop/web-1");
    }
    CHECK(asked("node/n*") == "node/n1");
    for (const std::string text : {"eb*", "pod/other/web*", "w*b", "svc/web*"}) {
        CHECK(asked(text).empty());
    }
}

TEST_CASE("ObjectQuestion: finds the address and the instance that rules have made") {
    TableJob job(
        {TableJob::copy("__meta_to", "__address__"), TableJob::copy("__meta_i", "instance")});
    job.put_pod("a", "10.0.0.1:80", {{"__meta_to", "proxy:9115"}, {"__meta_i", "www.shop"}});
    for (const std::string text : {"proxy:9115", "proxy", "www.shop", "10.0.0.1"}) {
        CHECK(ObjectQuestion(text).object_of(*job.row("10.0.0.1:80")) == "pod/shop/a");
    }
}

TEST_CASE("in_words: says what a job looks at") {
    Job job;
    CHECK(k8s_sd_program::in_words(job) == "nothing");
    job.configs = {{}};
    CHECK(k8s_sd_program::in_words(job) == "pods in all namespaces");
    job.configs = {{.namespaces = {"a", "b"}, .selectors = {{Role::pod, "app=web", ""}}},
                   {.role = Role::node}};
    job.static_configs.emplace_back();
    job.http_sd_configs.emplace_back().url = "http://x/list?token=1";
    CHECK(k8s_sd_program::in_words(job) ==
          "pods in namespaces a, b with labels app=web, nodes, targets of the configuration, the "
          "list of http://x/list");
}

TEST_CASE("remedy_for: is never empty where something fails") {
    CHECK(k8s_sd_program::remedy_for({}, "").empty());
    for (int i = 1; i <= static_cast<int>(errc::ping_timeout); ++i) {
        CHECK_FALSE(k8s_sd_program::remedy_for(static_cast<errc>(i), "what").empty());
    }
    const auto refused =
        boost::system::errc::make_error_code(boost::system::errc::connection_refused);
    CHECK(k8s_sd_program::remedy_for(refused, "10.0.0.1: refused; and 3 more")
              .starts_with("check that the "));
    CHECK(k8s_sd_program::remedy_for(errc::unauthorized, "HTTP 401; check the token") ==
          "check the token");
}

TEST_CASE(
    "TargetOwners: names the shards and collectors of an active target, as the lists divide") {
    TableJob job;
    job.put_pod("a", "a:1");
    job.put_pod("all", "all:1", {{"__tmp_disable_sharding", "true"}});
    const auto owners_of = [&](const k8s_sd_program::TargetOwners& owners,
                               const std::string& address) {
        std::string text;
        k8s_sd_program::JsonWriter json(text);
        json.begin('{');
        owners.write(json, *job.row(address), "web");
        json.end('}');
        return json::parse(text).as_object();
    };
    k8s_sd_program::TargetOwners owners;
    CHECK(owners_of(owners, "a:1").empty());
    owners.divide(8, 2);
    k8s_sd_program::ListedTarget listed;
    listed.share_key = k8s_sd_program::share_key_of(*job.row("a:1")->target, "web");
    const auto parts = k8s_sd_program::Divider({.shards = 8, .replicas = 2}).parts_of(listed);
    const auto received = owners_of(owners, "a:1").at("owners").as_array();
    REQUIRE(received.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK("shard " + std::to_string(received[i].as_int64()) == parts[i]);
    }
    CHECK(owners_of(owners, "all:1").at("owners") == "all");
    owners.allocate(nullptr);
    CHECK(owners_of(owners, "a:1").at("collectors").is_null());
    const auto collectors = std::make_shared<const k8s_sd_program::Collectors>(
        std::vector<k8s_sd_program::Collector>{{"c-0", ""}}, k8s_sd_program::Collectors::Options());
    owners.allocate(std::make_shared<const k8s_sd_program::AllocationView>(
        std::vector<k8s_sd_program::CollectorsPtr>{collectors}));
    CHECK(json::serialize(owners_of(owners, "a:1").at("collectors")) == R"(["c-0"])");
}

TEST_CASE("write_rule: as Prometheus 3.8 writes it") {
    RelabelRule rule = TableJob::copy("a", "b");
    std::string text;
    k8s_sd_program::JsonWriter json(text);
    k8s_sd_program::write_rule(json, rule);
    CHECK(text == R"x({"sourceLabels":["a"],"separator":";","regex":"(.+)","targetLabel":"b",)x"
                  R"x("replacement":"$1","action":"replace"})x");
}

TEST_CASE("ShardCounts: counts as the lists divide, and says what another number would move") {
    TableJob job;
    for (int i = 0; i < 1000; ++i) job.put_pod(std::to_string(i), "h" + std::to_string(i) + ":1");
    job.put_pod("all", "all:1", {{"__tmp_disable_sharding", "true"}});
    k8s_sd_program::ShardCounts counts(8, 1, 9);
    std::vector<std::size_t> expected(8);
    const k8s_sd_program::Divider divider({.shards = 8});
    for (const auto& row : job.table.rows()) {
        counts.add(row, "web");
        k8s_sd_program::ListedTarget listed;
        listed.share_key = k8s_sd_program::share_key_of(*row.target, "web");
        for (const auto& part : divider.parts_of(listed)) ++expected[std::stoul(part.substr(6))];
    }
    const auto received = json::parse(counts.text()).as_object();
    CHECK(received.at("total") == 1001);
    CHECK(received.at("on_all") == 1);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(received.at("members").at(i).at("member").as_string() == std::to_string(i));
        CHECK(received.at("members").at(i).at("targets") == expected[i]);
    }
    const auto moved = received.at("dry_run").at("moved").as_int64();
    CHECK(moved > 70);
    CHECK(moved < 160);  // one in nine
    const auto gets = received.at("dry_run").at("members").at(8).at("targets").as_int64();
    CHECK(gets == moved + 1);
}
