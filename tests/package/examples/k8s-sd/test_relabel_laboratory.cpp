#include "api/object_question.hpp"
#include "api/remedy.hpp"
#include "jobs/job_yaml.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "lists/selection.hpp"
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
using bridge::Laboratory;
using bridge::ObjectQuestion;
namespace json = boost::json;

TEST_CASE("Laboratory: tells what other rules would change, of each kind") {
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
    std::size_t slices = 1;
    while (laboratory.try_on_all(job.table, rows_at_most(2))) ++slices;
    CHECK(slices == 3);
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
    CHECK(job.table.counts().of(bridge::TargetState::active) == 3);
}

TEST_CASE("Laboratory: the same rules change nothing, however many targets are duplicates") {
    const std::vector<RelabelRule> rules{TableJob::copy("__meta_to", "__address__")};
    TableJob job(rules);
    for (const std::string n : {"a", "b", "c"}) {
        job.put(n, {{{"__address__", n}, {"__meta_to", "same"}}});
    }
    Laboratory laboratory(TableJob::config_with(rules));
    laboratory.try_on_all(job.table, rows_at_most(100));
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
        laboratory.try_on_all(job.table, rows_at_most(100));
        return json::parse(laboratory.text()).at("effect").as_object();
    };
    auto effect = effect_of(TableJob::rule(RelabelAction::drop, "__address__", "same"));
    CHECK(effect.at("active_before") == 1);
    CHECK(effect.at("active_after") == 0);
    CHECK(effect.at("lost") == 1);
    CHECK(effect.at("examples").at("lost").as_array().size() == 1);
    // As long as one row keeps it, it is not lost.
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
    const auto told = json::parse(laboratory.text()).as_object();
    const auto& steps = told.at("steps").as_array();
    REQUIRE(steps.size() == 4);
    CHECK(json::serialize(steps[0].at("changed")) == R"({"a":["0","1"]})");
    CHECK(json::serialize(steps[1].at("added")) == R"({"b":"1"})");
    CHECK(json::serialize(steps[2].at("removed")) == R"({"b":"1"})");
    CHECK(steps[3].at("keep") == false);
    CHECK(told.at("state") == "dropped");
    CHECK(told.at("labels").is_null());
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
    CHECK(parse_relabel_configs(bridge::to_yaml(rules)) == rules);
}

TEST_CASE("in_words: says what a rule looks at") {
    CHECK(bridge::in_words(TableJob::rule(RelabelAction::drop, "phase", "A|B")) ==
          "drop if phase matches A|B");
    RelabelRule rule = TableJob::rule(RelabelAction::keepequal, "a", "(.*)");
    rule.source_labels.push_back("b");
    rule.target_label = "c";
    CHECK(bridge::in_words(rule) == "keep if a;b is c");
    rule.if_ = {"{x=\"1\"}"};
    CHECK(bridge::in_words(rule) == "keep if a;b is c if {x=\"1\"}");
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
    CHECK_THROWS_AS(ObjectQuestion(""), bridge::BadRequest);
    CHECK_THROWS_AS(ObjectQuestion(std::string(2000, 'x')), bridge::BadRequest);
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
    CHECK(bridge::in_words(job) == "nothing");
    job.configs.emplace_back();
    CHECK(bridge::in_words(job) == "pods in all namespaces");
    job.configs.back().namespaces = {"a", "b"};
    job.configs.back().selectors = {{Role::pod, "app=web", ""}};
    job.configs.emplace_back().role = Role::node;
    job.static_configs.emplace_back();
    job.http_sd_configs.emplace_back().url = "http://x/list?token=1";
    CHECK(bridge::in_words(job) ==
          "pods in namespaces a, b with labels app=web, nodes, targets of the configuration, the "
          "list of http://x/list");
}

TEST_CASE("remedy_for: is never empty where something fails") {
    CHECK(bridge::remedy_for({}, "").empty());
    for (int i = 1; i <= static_cast<int>(errc::target_list_too_large); ++i) {
        CHECK_FALSE(bridge::remedy_for(static_cast<errc>(i), "what").empty());
    }
    const auto refused =
        boost::system::errc::make_error_code(boost::system::errc::connection_refused);
    CHECK(
        bridge::remedy_for(refused, "10.0.0.1: refused; and 3 more").starts_with("see that the "));
    CHECK(bridge::remedy_for(errc::unauthorized, "HTTP 401; check the token") == "check the token");
}

TEST_CASE(
    "TargetOwners: names the shards and collectors of an active target, as the lists divide") {
    TableJob job;
    job.put_pod("a", "a:1");
    job.put_pod("all", "all:1", {{"__tmp_disable_sharding", "true"}});
    const auto owners_of = [&](const bridge::TargetOwners& owners, const std::string& address) {
        std::string text;
        bridge::JsonWriter json(text);
        json.begin('{');
        owners.write(json, *job.row(address), "web");
        json.end('}');
        return json::parse(text).as_object();
    };
    bridge::TargetOwners owners;
    CHECK(owners_of(owners, "a:1").empty());
    owners.divide(8, 2);
    bridge::ListedTarget listed;
    listed.share_key = bridge::share_key_of(*job.row("a:1")->target, "web");
    const auto parts = bridge::Divider({.shards = 8, .replicas = 2}).parts_of(listed);
    const auto told = owners_of(owners, "a:1").at("owners").as_array();
    REQUIRE(told.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK("shard " + std::to_string(told[i].as_int64()) == parts[i]);
    }
    CHECK(owners_of(owners, "all:1").at("owners") == "all");
    owners.allocate(nullptr);
    CHECK(owners_of(owners, "a:1").at("collectors").is_null());
    const auto collectors = std::make_shared<const bridge::Collectors>(
        std::vector<bridge::Collector>{{"c-0", ""}}, bridge::Collectors::Options());
    owners.allocate(std::make_shared<const bridge::AllocationView>(
        std::vector<bridge::CollectorsPtr>{collectors}));
    CHECK(json::serialize(owners_of(owners, "a:1").at("collectors")) == R"(["c-0"])");
}

TEST_CASE("write_rule: as Prometheus 3.8 writes it") {
    RelabelRule rule = TableJob::copy("a", "b");
    std::string text;
    bridge::JsonWriter json(text);
    bridge::write_rule(json, rule);
    CHECK(text == R"x({"sourceLabels":["a"],"separator":";","regex":"(.+)","targetLabel":"b",)x"
                  R"x("replacement":"$1","action":"replace"})x");
}

TEST_CASE("ShardCounts: counts as the lists divide, and says what another number would move") {
    TableJob job;
    for (int i = 0; i < 1000; ++i) job.put_pod(std::to_string(i), "h" + std::to_string(i) + ":1");
    job.put_pod("all", "all:1", {{"__tmp_disable_sharding", "true"}});
    bridge::ShardCounts counts(8, 1, 9);
    std::vector<std::size_t> expected(8);
    const bridge::Divider divider({.shards = 8});
    for (const auto& row : job.table.rows()) {
        counts.add(row, "web");
        bridge::ListedTarget listed;
        listed.share_key = bridge::share_key_of(*row.target, "web");
        for (const auto& part : divider.parts_of(listed)) ++expected[std::stoul(part.substr(6))];
    }
    const auto told = json::parse(counts.text()).as_object();
    CHECK(told.at("total") == 1001);
    CHECK(told.at("on_all") == 1);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(told.at("members").at(i).at("member").as_string() == std::to_string(i));
        CHECK(told.at("members").at(i).at("targets") == expected[i]);
    }
    const auto moved = told.at("dry_run").at("moved").as_int64();
    CHECK(moved > 70);
    CHECK(moved < 160);  // one in nine
    const auto gets = told.at("dry_run").at("members").at(8).at("targets").as_int64();
    CHECK(gets == moved + 1);
}
