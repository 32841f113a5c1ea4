#include "k8s_sd/scrape/target_builder.hpp"
#include "support/config_fixtures.hpp"
#include "support/effort.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace target_builder_tests {

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::config_error;
using k8s_sd::test::make_group;
using k8s_sd::test::rounds;

namespace {

/// The job of the scenarios in Prometheus' own tests.
ScrapeConfig job() {
    ScrapeConfig config;
    config.job_name = "job";
    config.scheme = "https";
    config.scrape_interval = 1s;
    config.scrape_timeout = 1s;
    return config;
}

ScrapeConfig job_with(std::vector<RelabelRule> rules) {
    ScrapeConfig config = job();
    config.relabel_configs = std::move(rules);
    return config;
}

BuiltTarget build(const ScrapeConfig& config, const LabelMap& target, const LabelMap& group = {}) {
    return TargetBuilder(config).build(make_group("p", {target}, group), 0);
}
ScrapeTargetPtr built(const ScrapeConfig& config, const LabelMap& target,
                      const LabelMap& group = {}) {
    const BuiltTarget result = build(config, target, group);
    REQUIRE(std::holds_alternative<ScrapeTargetPtr>(result));
    return std::get<ScrapeTargetPtr>(result);
}
LabelMap labels(const ScrapeTargetPtr& target) {
    LabelMap map;
    for (const auto& [name, value] : target->labels()) map.emplace(name, value);
    return map;
}
/// The labels after building; fails the test if there is no target.
LabelMap labels(const ScrapeConfig& config, const LabelMap& target, const LabelMap& group = {}) {
    return labels(built(config, target, group));
}
std::string error(const ScrapeConfig& config, const LabelMap& target) {
    const BuiltTarget result = build(config, target);
    const auto* problem = std::get_if<TargetError>(&result);
    return problem ? problem->message : "";
}
/// The labels of every target of job(), and these.
LabelMap with_defaults(LabelMap map) {
    map.insert({{"job", "job"},
                {"__scheme__", "https"},
                {"__metrics_path__", "/metrics"},
                {"__scrape_interval__", "1s"},
                {"__scrape_timeout__", "1s"}});
    return map;
}

RelabelRule replace(std::string source, std::string target, std::string regex = "(.*)",
                    std::string replacement = "$1") {
    RelabelRule rule;
    rule.source_labels = {std::move(source)};
    rule.target_label = std::move(target);
    rule.regex = std::move(regex);
    rule.replacement = std::move(replacement);
    return rule;
}
RelabelRule by_name(RelabelAction action, std::string regex) {
    RelabelRule rule;
    rule.action = action;
    rule.regex = std::move(regex);
    return rule;
}
RelabelRule drop_all() {
    RelabelRule rule;
    rule.action = RelabelAction::drop;
    return rule;
}

}  // namespace

TEST_CASE("TargetBuilder: very many labels of a target and of its group take no quadratic time") {
    const LabelDialect dialect = GENERATE(LabelDialect::prometheus, LabelDialect::victoriametrics);
    ScrapeConfig config = job();
    config.dialect = dialect;
    // Quadratic work would take a minute.
    constexpr std::size_t count = rounds(std::size_t{50'000});
    LabelMap own{{"__address__", "h:1"}};
    LabelMap group{{"__address__", "group:1"}};
    for (std::size_t i = 0; i < count; ++i) {
        own.emplace("own_" + std::to_string(i), "1");
        group.emplace("all_" + std::to_string(i), "2");
    }
    const LabelMap result = labels(built(config, own, group));
    CHECK(result.size() > 2 * count);
    CHECK(result.at("__address__") == "h:1");
    CHECK(result.at("all_7") == "2");
}

TEST_CASE("TargetBuilder: the job's defaults and the instance are added") {
    CHECK(
        labels(job(), {{"__address__", "1.2.3.4:1000"}, {"custom", "value"}}) ==
        with_defaults(
            {{"__address__", "1.2.3.4:1000"}, {"custom", "value"}, {"instance", "1.2.3.4:1000"}}));
}

TEST_CASE("TargetBuilder: what the target says wins over the job; no port is added") {
    const LabelMap own{{"__address__", "1.2.3.4"},      {"__scheme__", "http"},
                       {"__metrics_path__", "/custom"}, {"job", "custom-job"},
                       {"__scrape_interval__", "2s"},   {"__scrape_timeout__", "2s"}};
    LabelMap expected = own;
    expected.emplace("instance", "1.2.3.4");
    CHECK(labels(job(), own) == with_defaults(expected));
}

TEST_CASE("TargetBuilder: an instance that is there stays, and so does an address") {
    CHECK(labels(job(), {{"__address__", "[::1]"}, {"instance", "custom-instance"}}) ==
          with_defaults({{"__address__", "[::1]"}, {"instance", "custom-instance"}}));
    for (const char* address : {"1.2.3.4:443", "1.2.3.4:80", "h", "[fd00::1]:80"}) {
        CHECK(labels(job(), {{"__address__", address}}).at("__address__") == address);
    }
}

TEST_CASE("TargetBuilder: a target without an address is an error") {
    CHECK(error(job(), {{"custom", "value"}}) == "there is no address: __address__ is empty");
    CHECK(error(job(), {{"__address__", ""}}) == "there is no address: __address__ is empty");
    const LabelMap target{{"__address__", "h:1"}, {"foo", "bar"}};
    // Rules that delete the address do not drop the target.
    CHECK_FALSE(error(job_with({by_name(RelabelAction::labelkeep, "foo")}), target).empty());
    CHECK_FALSE(
        error(job_with({by_name(RelabelAction::labeldrop, "__address__")}), target).empty());
}

TEST_CASE("TargetBuilder: relabelling can make the address") {
    const auto target =
        built(job_with({replace("custom", "__address__")}), {{"custom", "host:1234"}});
    CHECK(target->get("__address__") == "host:1234");
    CHECK(target->get("instance") == "host:1234");
    CHECK_FALSE(target->discovered_labels().contains("__address__"));
    CHECK_FALSE(target->discovered_labels().contains("instance"));
}

TEST_CASE("TargetBuilder: values that are not UTF-8 are an error where they stay") {
    CHECK(error(job(), {{"__address__", "h:1"}, {"custom", "\xbd"}}) ==
          "the value of custom is not UTF-8");
    CHECK(error(job(), {{"__address__", "h:1"}, {"__meta_x", "\xbd"}}).empty());
}

TEST_CASE("TargetBuilder: interval and timeout must be durations that fit") {
    const auto problem = [](const char* label, const char* value) {
        return error(job(), {{"__address__", "h:1"}, {label, value}});
    };
    CHECK(problem("__scrape_interval__", "2notseconds") ==
          "__scrape_interval__ has an unknown unit; allowed are y, w, d, h, m, s, ms");
    CHECK(problem("__scrape_timeout__", "2notseconds") ==
          "__scrape_timeout__ has an unknown unit; allowed are y, w, d, h, m, s, ms");
    CHECK(problem("__scrape_interval__", "0s") == "__scrape_interval__ must be longer than 0");
    CHECK(problem("__scrape_timeout__", "0s") == "__scrape_timeout__ must be longer than 0");
    CHECK(problem("__scrape_timeout__", "2s") ==
          "__scrape_timeout__ is longer than __scrape_interval__");
    CHECK_FALSE(error(job_with({by_name(RelabelAction::labeldrop, "__scrape_interval__")}),
                      {{"__address__", "h:1"}})
                    .empty());
}

TEST_CASE("TargetBuilder: a URL is no address") {
    for (const char* address : {"http://x", "h:1/metrics", "/"}) {
        CHECK(error(job(), {{"__address__", address}}) ==
              "__address__ must be host:port, without scheme and path");
    }
}

TEST_CASE("TargetBuilder: rules can change interval and timeout") {
    ScrapeConfig config =
        job_with({replace("__scrape_interval__", "__scrape_interval__", "2s", "3s"),
                  replace("__scrape_timeout__", "__scrape_timeout__", "500ms", "750ms")});
    config.scrape_interval = 2s;
    config.scrape_timeout = 500ms;
    const auto target = built(config, {{"__address__", "h:1"}});
    CHECK(target->get("__scrape_interval__") == "3s");
    CHECK(target->get("__scrape_timeout__") == "750ms");
    CHECK(target->scrape_interval() == 3s);
    CHECK(target->scrape_timeout() == 750ms);
}

TEST_CASE("TargetBuilder: labels of the target win over those of the group, also empty ones") {
    const LabelMap address{{"__address__", "h:1"}};
    CHECK(labels(job(), address, {{"job", "g"}, {"x", "1"}}) ==
          with_defaults({{"__address__", "h:1"}, {"instance", "h:1"}, {"job", "g"}, {"x", "1"}}));
    CHECK(labels(job(), {{"__address__", "h:1"}, {"job", ""}, {"x", ""}},
                 {{"job", "g"}, {"x", "1"}}) ==
          with_defaults({{"__address__", "h:1"}, {"instance", "h:1"}}));
}

TEST_CASE("TargetBuilder: a rule drops a target, which is no error") {
    const BuiltTarget result = build(job_with({drop_all()}), {{"custom", "x"}});
    REQUIRE(std::holds_alternative<DropReason>(result));
    CHECK(std::get<DropReason>(result) == DropReason::relabelling);
}

TEST_CASE("TargetBuilder: meta labels are there for rules and gone afterwards") {
    const LabelMap target{{"__address__", "h:1"}, {"__meta_kubernetes_pod_name", "p"}};
    const auto result = built(job_with({replace("__meta_kubernetes_pod_name", "pod")}), target);
    CHECK(labels(result) ==
          with_defaults({{"__address__", "h:1"}, {"instance", "h:1"}, {"pod", "p"}}));
    CHECK(result->public_labels() == LabelMap{{"instance", "h:1"}, {"job", "job"}, {"pod", "p"}});
    CHECK(result->discovered_labels() ==
          with_defaults({{"__address__", "h:1"}, {"__meta_kubernetes_pod_name", "p"}}));
}

TEST_CASE("TargetBuilder: parameters of the job are labels, and labels are parameters") {
    ScrapeConfig config = job();
    config.params = {{"abc", {"foo", "bar", "baz"}}, {"xyz", {"hoo"}}, {"none", {}}};
    CHECK(labels(config, {{"__address__", "h:1"}}).at("__param_abc") == "foo");
    CHECK_FALSE(labels(config, {{"__address__", "h:1"}}).contains("__param_none"));
    const auto target = built(
        config, {{"__address__", "h:1"}, {"__param_abc", "overwrite"}, {"__param_cde", "huu"}});
    CHECK(target->url() == "https://h:1/metrics?abc=overwrite&abc=bar&abc=baz&cde=huu&xyz=hoo");
}

TEST_CASE("TargetBuilder: the URL is encoded as Go encodes it") {
    const auto url = [](LabelMap labels) {
        labels.emplace("__address__", "h:1");
        labels.emplace("__scheme__", "http");
        return built(job(), labels)->url();
    };
    CHECK(url({}) == "http://h:1/metrics");
    CHECK(url({{"__metrics_path__", "probe"}}) == "http://h:1/probe");
    CHECK(url({{"__metrics_path__", "/a b?c%ü/@:;=&+$,(x)"}}) ==
          "http://h:1/a%20b%3Fc%25%C3%BC/@:;=&+$,%28x%29");
    CHECK(url({{"__param_target", "s.default.svc:30900"}}) ==
          "http://h:1/metrics?target=s.default.svc%3A30900");
    CHECK(url({{"__param_x", "a b&c=d/e~"}}) == "http://h:1/metrics?x=a+b%26c%3Dd%2Fe~");
    CHECK(url({{"__address__", "[fd00::1]:9100"}}) == "http://[fd00::1]:9100/metrics");
    CHECK(url({{"__address__", "a b:1"}}) == "http://a%20b:1/metrics");
}

TEST_CASE("TargetBuilder: an unusual scheme is the rules' affair") {
    CHECK(labels(job(), {{"__address__", "h:1"}, {"__scheme__", "ftp"}}).at("__scheme__") == "ftp");
}

TEST_CASE("ScrapeTarget: same labels and URL make the same target") {
    const auto make = [](const LabelMap& map) { return built(job(), map); };
    const auto target = make({{"__address__", "h:1"}, {"__tmp_x", "1"}, {"__meta_a", "1"}});
    CHECK(target->same_as(*make({{"__address__", "h:1"}, {"__tmp_x", "1"}, {"__meta_a", "2"}})));
    CHECK_FALSE(target->same_as(*make({{"__address__", "h:1"}, {"__tmp_x", "2"}})));
    CHECK_FALSE(target->same_as(*make({{"__address__", "h:2"}, {"__tmp_x", "1"}})));
    CHECK_FALSE(target->same_as(*make({{"__address__", "h:1"}})));
}

TEST_CASE("ScrapeTarget: the first scrape has a fixed place in the interval") {
    using std::chrono::nanoseconds;
    using Time = std::chrono::system_clock::time_point;
    ScrapeConfig config = job();
    config.scrape_interval = 1min;
    const auto target = built(config, {{"__address__", "h:1"}});
    const Time start(std::chrono::hours(1000));
    const nanoseconds first = target->first_scrape_after(start);
    CHECK(first < 1min);
    for (const nanoseconds later : {nanoseconds(1), nanoseconds(7s), nanoseconds(59s)}) {
        const Time now = start + std::chrono::duration_cast<Time::duration>(later);
        const nanoseconds place = (later + target->first_scrape_after(now)) % nanoseconds(1min);
        CHECK(place == first);
    }
    CHECK(target->first_scrape_after(start, 12345) != first);
}

TEST_CASE("TargetBuilder: the first scrape is within the interval, however long that is") {
    using std::chrono::nanoseconds;
    using Time = std::chrono::system_clock::time_point;
    const auto target = built(job(), {{"__address__", "h:1"}, {"__scrape_interval__", "290y"}});
    for (const Time now : {Time(std::chrono::hours(1'000)), Time(std::chrono::hours(1'000'000)),
                           Time(-std::chrono::hours(1'000'000))}) {
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const nanoseconds first = target->first_scrape_after(now, seed << 56U);
            REQUIRE(first >= nanoseconds::zero());
            REQUIRE(first < target->scrape_interval());
        }
    }
}

TEST_CASE("TargetBuilder: vmagent's dialect writes durations as Go does") {
    ScrapeConfig config = job();
    config.dialect = LabelDialect::victoriametrics;
    config.scrape_interval = 1min;
    CHECK(labels(config, {{"__address__", "h"}}) == LabelMap{{"__address__", "h"},
                                                             {"instance", "h:443"},
                                                             {"job", "job"},
                                                             {"__scheme__", "https"},
                                                             {"__metrics_path__", "/metrics"},
                                                             {"__scrape_interval__", "1m0s"},
                                                             {"__scrape_timeout__", "1s"}});
}

TEST_CASE("TargetBuilder: vmagent's Go durations can be read back from labels") {
    ScrapeConfig config = job();
    config.dialect = LabelDialect::victoriametrics;
    config.scrape_interval = 90s;
    config.scrape_timeout = 1500ms;
    const auto target = built(config, {{"__address__", "h:1"}});
    CHECK(target->get("__scrape_timeout__") == "1.5s");
    CHECK(target->scrape_interval() == 90s);
    CHECK(target->scrape_timeout() == 1500ms);
}

TEST_CASE("TargetBuilder: vmagent's dialect cuts a job's timeout to the interval, label and all") {
    ScrapeConfig config = job();
    config.dialect = LabelDialect::victoriametrics;
    config.scrape_timeout = 5s;
    const auto target = built(config, {{"__address__", "h:1"}});
    CHECK(target->scrape_interval() == 1s);
    CHECK(target->scrape_timeout() == 1s);
    CHECK(target->get("__scrape_timeout__") == "1s");
    // But not the time-out of a target.
    const auto own = built(config, {{"__address__", "h:1"}, {"__scrape_timeout__", "5s"}});
    CHECK(own->scrape_interval() == 1s);
    CHECK(own->scrape_timeout() == 5s);
}

TEST_CASE("TargetBuilder: a default timeout is cut to the interval") {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        ScrapeConfig config{.job_name = "j", .scrape_interval = 5s, .dialect = dialect};
        const auto target = built(config, {{"__address__", "h:1"}});
        CHECK(target->scrape_timeout() == 5s);
        CHECK(target->get("__scrape_timeout__") == "5s");
        config.scrape_interval = 1min;
        CHECK(built(config, {{"__address__", "h:1"}})->scrape_timeout() == 10s);
    }
}

TEST_CASE("TargetBuilder: targets of other members are dropped, and each has its owners") {
    const auto group = make_group("p", {{{"__address__", "h:1"}, {"__meta_x", "1"}}});
    unsigned owners = 0;
    for (unsigned member = 0; member < 5; ++member) {
        TargetBuilder builder(job(), Sharding({.members = 5,
                                               .member = member,
                                               .replication_factor = 2,
                                               .member_label = "replica",
                                               .member_name = member == 3 ? "agent-3" : ""}));
        const BuiltTarget result = builder.build(group, 0);
        if (const auto* target = std::get_if<ScrapeTargetPtr>(&result)) {
            ++owners;
            const std::string name = member == 3 ? "agent-3" : std::to_string(member);
            CHECK((*target)->get("replica") == name);
        } else {
            CHECK(std::get<DropReason>(result) == DropReason::sharding);
        }
    }
    CHECK(owners == 2);
}

TEST_CASE("TargetBuilder: the shard depends on what vmagent hashes") {
    // Names from before relabelling in order, then the new ones; no meta labels, no instance.
    ScrapeConfig config = job_with({replace("__meta_b", "zone"), replace("__meta_a", "app")});
    config.dialect = LabelDialect::victoriametrics;
    const auto group =
        make_group("p", {{{"__address__", "h:1"}, {"__meta_a", "1"}, {"__meta_b", "2"}}});
    const std::string key =
        "__address__=h:1,__metrics_path__=/metrics,__scheme__=https,__scrape_interval__=1s,"
        "__scrape_timeout__=1s,job=job,zone=2,app=1,";
    const Sharding any({.members = 1000});
    TargetBuilder owner(config, Sharding({.members = 1000, .member = any.owners(key).front()}));
    CHECK(std::holds_alternative<ScrapeTargetPtr>(owner.build(group, 0)));
}

TEST_CASE("TargetBuilder: a configuration that cannot work is refused, naming the field") {
    const auto problem = [](auto change) {
        ScrapeConfig config = job();
        change(config);
        return config_error([&] { TargetBuilder{config}; });
    };
    CHECK(problem([](auto&) {}).empty());
    CHECK(problem([](auto& c) { c.job_name = ""; }) == "job_name: is missing");
    CHECK(problem([](auto& c) { c.scheme = "ftp"; }) == "scheme: must be http or https");
    CHECK(problem([](auto& c) { c.scrape_interval = 0s; }) ==
          "scrape_interval: must be longer than 0");
    CHECK(problem([](auto& c) { c.scrape_timeout = -1s; }) ==
          "scrape_timeout: must be longer than 0");
    CHECK(problem([](auto& c) { c.scrape_timeout = 2s; }) ==
          "scrape_timeout: must not be longer than scrape_interval");
    CHECK(problem([](auto& c) { c.job_name = "\xff"; }) == "job_name: is not UTF-8");
    const std::string rule = problem([](auto& c) {
        c.relabel_configs = {
            replace("a", "b", "("),
        };
    });
    CHECK(rule.find("relabel_configs[0].regex: ") == 0);
}

TEST_CASE(
    "TargetBuilder: before Prometheus 3.7, and with vmagent, rules may make any name, whatever "
    "the scheme of metrics is") {
    ScrapeConfig config = job_with({replace("__address__", "a.b")});
    config.metric_name_validation_scheme = NameValidation::legacy;
    CHECK(labels(config, {{"__address__", "h:1"}}).at("a.b") == "h:1");
    config.prometheus_version = PrometheusVersion::v3_6;
    CHECK(labels(config, {{"__address__", "h:1"}}).at("a.b") == "h:1");
    config.prometheus_version = {};
    config.dialect = LabelDialect::victoriametrics;
    CHECK(labels(config, {{"__address__", "h:1"}}).at("a.b") == "h:1");
}

TEST_CASE("TargetBuilder: from Prometheus 3.7 on, rules have the names of the job's scheme") {
    for (const PrometheusVersion version : {PrometheusVersion::v3_7, PrometheusVersion::v3_15}) {
        ScrapeConfig config = job_with({replace("__address__", "a-b")});
        config.prometheus_version = version;
        CHECK(labels(config, {{"__address__", "h:1"}}).at("a-b") == "h:1");
        config.metric_name_validation_scheme = NameValidation::legacy;
        const std::string problem = config_error([&] { TargetBuilder builder(config); });
        CHECK(problem.starts_with("relabel_configs[0].target_label: is no label name"));
        config.relabel_configs = {replace("__address__", "x${1}", "h(.*)", "y"),
                                  replace("__address__", "z${1}", "(.).*", "y")};
        const LabelMap made = labels(config, {{"__address__", "h-1"}});
        CHECK_FALSE(made.contains("x-1"));
        CHECK(made.at("zh") == "y");
    }
}

TEST_CASE("ScrapeTarget: the label of a socket counts from Prometheus 3.15 on") {
    const LabelMap target{{"__address__", "h:1"}, {"__unix_socket__", "/run/x.sock"}};
    ScrapeConfig config = job();
    config.prometheus_version = PrometheusVersion::v3_14;
    CHECK(built(config, target)->unix_socket().empty());
    config.prometheus_version = PrometheusVersion::v3_15;
    CHECK(built(config, target)->unix_socket() == "/run/x.sock");
    CHECK(built(config, {{"__address__", "h:1"}})->unix_socket().empty());
}

TEST_CASE("TargetBuilder: of labels that labelmap gives one name the last wins, as in Prometheus") {
    ScrapeConfig config = job_with({{.action = RelabelAction::labelmap,
                                     .regex = "__(scheme|metrics_path|scrape_.*)__|job",
                                     .replacement = "x"}});
    const LabelMap target{{"__address__", "h:1"}};
    CHECK(labels(config, target).at("x") == "https");
    // Members of a cluster agree with stand-alone programs.
    TargetBuilder member(config, Sharding({.members = 2, .replication_factor = 2}));
    const BuiltTarget result = member.build(make_group("p", {target}), 0);
    CHECK(std::get<ScrapeTargetPtr>(result)->get("x") == "https");
}

TEST_CASE("TargetBuilder: an object of a thread can build targets while the thread ends") {
    const auto url_of = [](const std::string& address) {
        return std::get<ScrapeTargetPtr>(build(job(), {{"__address__", address}}))->url();
    };
    struct LastTarget {
        std::function<void()> make;
        ~LastTarget() { make(); }
    };
    std::string first;
    std::string last;
    std::thread([&] {
        thread_local LastTarget target;
        target.make = [&] { last = url_of("last:1"); };
        first = url_of("first:1");
    }).join();
    CHECK(first == "https://first:1/metrics");
    CHECK(last == "https://last:1/metrics");
}

TEST_CASE("TargetBuilder: explain() shows what each rule does") {
    TargetBuilder builder(job_with({replace("__meta_x", "x"), drop_all()}));
    const TargetExplanation explanation =
        builder.explain(*make_group("p", {{{"__address__", "h:1"}, {"__meta_x", "1"}}}), 0);
    CHECK(explanation.discovered == with_defaults({{"__address__", "h:1"}, {"__meta_x", "1"}}));
    REQUIRE(explanation.rules.size() == 2);
    CHECK(explanation.rules[0].changes == std::vector<RelabelStep::Change>{{"x", "", "1"}});
    CHECK(explanation.rules[1].dropped);
    CHECK(explanation.steps == std::vector<std::string>{"dropped: by this rule"});
    CHECK_FALSE(explanation.labels);
    CHECK(explanation.url.empty());
}

TEST_CASE("TargetBuilder: explain() goes on to the end") {
    TargetBuilder builder(job_with({replace("__meta_x", "x")}));
    const TargetExplanation kept = builder.explain({{"__address__", "h:1"}, {"__meta_x", "1"}});
    CHECK(kept.steps ==
          std::vector<std::string>{"instance, which is empty, becomes h:1",
                                   "scraped: https://h:1/metrics every 1s, for 1s at most"});
    CHECK(kept.labels == with_defaults({{"__address__", "h:1"}, {"instance", "h:1"}, {"x", "1"}}));
    CHECK(kept.url == "https://h:1/metrics");

    CHECK(builder.explain(LabelMap{{"a", "b"}}).steps ==
          std::vector<std::string>{"failed: there is no address: __address__ is empty"});
    CHECK(builder.explain({{"__address__", "h:1"}, {"__scrape_timeout__", "2s"}}).steps ==
          std::vector<std::string>{"failed: __scrape_timeout__ is longer than "
                                   "__scrape_interval__"});
}

TEST_CASE("TargetBuilder: explain() says who owns a target") {
    const LabelMap target{{"__address__", "h:1"}};
    std::size_t owners = 0;
    for (unsigned member = 0; member < 3; ++member) {
        TargetBuilder builder(job(), Sharding({.members = 3,
                                               .member = member,
                                               .member_label = "replica",
                                               .member_name = "agent"}));
        const TargetExplanation explanation = builder.explain(target);
        const std::string this_is = ", this is " + std::to_string(member);
        const std::string& step = explanation.steps.front();
        CHECK(step.find("of 3 members it belongs to ") != std::string::npos);
        CHECK(step.ends_with(this_is));
        CHECK(step.starts_with(explanation.labels ? "kept" : "dropped"));
        if (!explanation.labels) continue;
        ++owners;
        CHECK(explanation.labels->at("replica") == "agent");
    }
    CHECK(owners == 1);
}

}  // namespace target_builder_tests
