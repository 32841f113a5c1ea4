#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/monitors/monitor_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace {

using detail::MonitorTable;
using detail::ReferencedObject;
using Values = std::initializer_list<std::pair<std::string_view, std::string_view>>;

const ReferencedObject secret_s{MonitorReference::Kind::secret, "a", "S"};

/// A Secret a/S.
DataObjectPtr secret_with(Values values) {
    std::vector<std::string_view> texts{"a", "S", "Opaque"};
    for (const auto& [key, value] : values) texts.insert(texts.end(), {key, value});
    std::size_t size = 0;
    for (const auto& text : texts) size += detail::PackedTexts::packed_size(text.size());
    detail::PackedTexts packed(size);
    for (const auto& text : texts) packed.append(text);
    return new DataObject(k8s_sd::Kind::secret, "uid", false, std::move(packed));
}

MonitorOwner owner_of_services() {
    MonitorOwner owner;
    owner.owner_namespace = "a";
    owner.selections[0].objects.emplace();
    owner.selections[0].namespaces.emplace();
    return owner;
}

/// A table with one ServiceMonitor, a/web.
struct Table {
    explicit Table(const MonitorSourceConfig& config = {}) : table(config) {}

    void set_monitor(std::string_view spec) {
        ObjectDiff<Generic> diff;
        diff.full = true;
        diff.added.push_back(monitor("web", spec));
        table.apply(MonitorKind::service_monitor, diff);
    }
    /// \param name  a literal: the object refers to it
    static std::shared_ptr<const Generic> monitor(std::string_view name, std::string_view spec) {
        auto object = std::make_shared<Generic>();
        object->metadata.namespace_ = "a";
        object->metadata.name = name;
        object->content["spec"] = boost::json::parse(spec);
        return object;
    }
    /// \param label  a literal: the object refers to it
    void list_namespace(std::string_view label) {
        auto ns = std::make_shared<api::Namespace>();
        ns->metadata.name = "a";
        ns->metadata.labels = {{"env", label}};
        ObjectDiff<api::Namespace> diff;
        diff.full = true;
        diff.added.push_back(std::move(ns));
        table.apply(diff);
    }
    /// Whether all work can be done.
    bool settles() {
        for (int i = 0; i < 100 && table.has_work(); ++i) table.work(1);
        return !table.has_work();
    }
    MonitorState state() const {
        return table.object(MonitorKind::service_monitor, "a", "web")->state;
    }
    std::string reason() const {
        return table.object(MonitorKind::service_monitor, "a", "web")->why.reason;
    }

    MonitorTable table;
};

}  // namespace

TEST_CASE("MonitorTable: a monitor whose Secret makes the value of its class unusable is refused") {
    MonitorSourceConfig config;
    std::string value(600, 'x');
    SECTION("the value is too large") { config.limits.value_bytes = 500; }
    SECTION("the jobs are too large") { config.limits.bytes_per_monitor = 1000; }
    SECTION("no job can have such credentials") { value = "a\nb"; }
    Table t(config);
    MonitorOwner owner = owner_of_services();
    owner.scrape_classes.push_back(
        {.name = "c",
         .is_default = true,
         .spec = boost::json::parse(
             R"({"name": "c", "authorization": {"credentials": {"name": "S", "key": "big"}}})")});
    t.table.set_owner(owner);
    t.set_monitor(R"({"selector": {}, "endpoints": [
        {"port": "a", "authorization": {"credentials": {"name": "S", "key": "k"}}},
        {"port": "b"}, {"port": "c"}]})");
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::waiting);

    t.table.set_value(secret_s, secret_with({{"k", "small"}, {"big", value}}));
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::refused);
    CHECK_FALSE(t.reason().empty());
    CHECK(t.table.jobs().empty());

    t.table.set_value(secret_s, secret_with({{"k", "small"}, {"big", "fine"}}));
    REQUIRE(t.settles());
    CHECK(t.reason().empty());
    CHECK(t.state() == MonitorState::accepted);
    CHECK(t.table.jobs().size() == 3);
}

TEST_CASE("MonitorTable: a monitor that changes all the time does not delay Secrets of others") {
    // The name is a literal: the object has a view of it.
    const auto monitor = [](std::string_view name, std::string_view spec) {
        auto object = std::make_shared<Generic>();
        object->metadata.namespace_ = "a";
        object->metadata.name = name;
        object->content["spec"] = boost::json::parse(spec);
        return object;
    };
    MonitorTable table({});
    table.set_owner(owner_of_services());
    ObjectDiff<Generic> diff;
    diff.full = true;
    diff.added.push_back(monitor("busy", R"({"selector": {}, "endpoints": [{"port": "b"}]})"));
    diff.added.push_back(monitor("web", R"({"selector": {}, "endpoints": [
        {"port": "a", "authorization": {"credentials": {"name": "S", "key": "k"}}}]})"));
    table.apply(MonitorKind::service_monitor, diff);
    for (int i = 0; i < 5; ++i) {
        table.work(32);
        ObjectDiff<Generic> change;
        const std::string port = "b" + std::to_string(i);
        change.changed.push_back(
            {nullptr,
             monitor("busy", R"({"selector": {}, "endpoints": [{"port": ")" + port + R"("}]})")});
        table.apply(MonitorKind::service_monitor, change);
    }
    CHECK(table.take_watch_changes().begin == std::vector{secret_s});
}

TEST_CASE("MonitorTable: the pages of its objects have each of them once") {
    MonitorTable table({});
    for (const MonitorKind kind : {MonitorKind::service_monitor, MonitorKind::probe}) {
        ObjectDiff<Generic> diff;
        diff.full = true;
        for (const char* ns : {"a", "b"}) {
            for (const char* name : {"x", "y", "z"}) {
                auto object = std::make_shared<Generic>();
                object->metadata.namespace_ = ns;
                object->metadata.name = name;
                diff.added.push_back(std::move(object));
            }
        }
        table.apply(kind, diff);
    }
    table.set_owner(owner_of_services());
    const auto all = table.objects(std::nullopt, 100);
    REQUIRE(all.size() == 12);
    for (const std::size_t size : {1U, 5U, 12U, 13U}) {
        std::vector<MonitorObjectStatus> pages;
        std::optional<MonitorName> after;
        for (auto page = table.objects(after, size); !page.empty();
             page = table.objects(after, size)) {
            CHECK(page.size() <= size);
            after = {page.back().kind, page.back().object_namespace, page.back().name};
            pages.insert(pages.end(), page.begin(), page.end());
        }
        CHECK(pages == all);
    }
    // One that is gone still has a place.
    const auto rest = table.objects(MonitorName{MonitorKind::service_monitor, "b", "yy"}, 1);
    REQUIRE(rest.size() == 1);
    CHECK(rest.front() == all[5]);
}

TEST_CASE("MonitorTable: the shard and the node replace placeholders") {
    MonitorSourceConfig config;
    config.shard = 3;
    config.node_name = "node-1";
    config.options.topology_sharding = true;
    Table t(config);
    MonitorOwner owner = owner_of_services();
    owner.shards = 4;
    SECTION("of shards") {
        t.table.set_owner(owner);
        t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}]})");
        REQUIRE(t.settles());
        REQUIRE(t.table.jobs().size() == 1);
        CHECK(t.table.jobs()[0]->job->scrape.relabel_configs.back().regex == "3;|.+;.+");
    }
    SECTION("of shards in zones") {
        owner.topology = {"eu-1", "eu-2"};
        t.table.set_owner(owner);
        t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}]})");
        REQUIRE(t.settles());
        REQUIRE(t.table.jobs().size() == 1);
        std::string all;
        for (const RelabelRule& rule : t.table.jobs()[0]->job->scrape.relabel_configs) {
            all += rule.regex + "\n";
        }
        CHECK(all.find("eu-2;|.+;.+\n") != all.npos);
        CHECK(all.ends_with("1;|.+;.+\n"));
        CHECK(all.find("$(") == all.npos);
    }
    SECTION("of nodes") {
        owner.is_agent = owner.daemon_set = true;
        owner.selections[1] = owner.selections[0];
        t.table.set_owner(owner);
        auto object = std::make_shared<Generic>();
        object->metadata.namespace_ = "a";
        object->metadata.name = "pods";
        object->content["spec"] =
            boost::json::parse(R"({"selector": {}, "podMetricsEndpoints": [{"port": "a"}]})");
        ObjectDiff<Generic> diff;
        diff.added.push_back(std::move(object));
        t.table.apply(MonitorKind::pod_monitor, diff);
        REQUIRE(t.settles());
        REQUIRE(t.table.jobs().size() == 1);
        const auto& selectors = t.table.jobs()[0]->job->discovery.configs.at(0).selectors;
        REQUIRE(selectors.size() == 1);
        CHECK(selectors[0].field == "spec.nodeName=node-1");
    }
}

TEST_CASE("MonitorTable: monitors with credentials of their own share discovery") {
    Table t;
    t.table.set_owner(owner_of_services());
    ObjectDiff<Generic> diff;
    diff.full = true;
    for (const char* const name : {"x", "y"}) {
        diff.added.push_back(Table::monitor(
            name, R"({"selector": {}, "endpoints": [{"port": "https", "scheme": "https",
                "tlsConfig": {"insecureSkipVerify": true},
                "bearerTokenSecret": {"name": "S", "key": ")" +
                      std::string(name) + R"("}}]})"));
    }
    t.table.apply(MonitorKind::service_monitor, diff);
    REQUIRE(t.settles());
    t.table.set_value(secret_s, secret_with({{"x", "token of x"}, {"y", "token of y"}}));
    REQUIRE(t.settles());
    const std::vector<MonitorJobPtr> jobs = t.table.jobs();
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0]->job->discovery.configs.pointer(0) == jobs[1]->job->discovery.configs.pointer(0));
    CHECK(jobs[0]->job->client->auth.bearer_token == "token of x");
    CHECK(jobs[1]->job->client->auth.bearer_token == "token of y");
}

TEST_CASE("MonitorTable: jobs share discovery, and a client without credentials") {
    MonitorSourceConfig config;
    config.api_server.url = "https://a:6443";
    Table t(config);
    t.table.set_owner(owner_of_services());
    const auto jobs = [&](std::string_view more) {
        t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}, {"port": "b")" +
                      std::string(more) + "}]}");
        REQUIRE(t.settles());
        REQUIRE(t.table.jobs().size() == 2);
        return t.table.jobs();
    };
    const auto discovery = [](const MonitorJobPtr& job) -> const DiscoveryConfig& {
        REQUIRE(job->job->discovery.configs.size() == 1);
        return job->job->discovery.configs[0];
    };
    const auto same = jobs("");
    CHECK(&discovery(same[0]) == &discovery(same[1]));
    CHECK(discovery(same[0]).api_server.url == "https://a:6443");
    CHECK(&*same[0]->job->client == &*same[1]->job->client);
    const auto other = jobs(R"(, "bearerTokenFile": "/token")");
    CHECK(&discovery(other[0]) == &discovery(other[1]));
    CHECK(other[0]->job->client->auth.bearer_token_file.empty());
    CHECK(other[1]->job->client->auth.bearer_token_file == "/token");
}

TEST_CASE("MonitorTable: other zones of the owner replace those in the rules") {
    MonitorSourceConfig config;
    config.shard = 1;
    config.options.topology_sharding = true;
    Table t(config);
    MonitorOwner owner = owner_of_services();
    owner.shards = 2;
    owner.topology = {"eu-1", "eu-2"};
    t.table.set_owner(owner);
    t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}]})");
    REQUIRE(t.settles());
    const auto has = [&](std::string_view text) {
        const auto& rules = t.table.jobs().at(0)->job->scrape.relabel_configs;
        return std::any_of(rules.begin(), rules.end(), [&](const RelabelRule& rule) {
            return rule.regex.find(text) != std::string::npos;
        });
    };
    CHECK(has("eu-2"));
    t.table.take_news();
    owner.topology = {"eu-1", "eu-3"};
    t.table.set_owner(owner);
    REQUIRE(t.settles());
    CHECK(has("eu-3"));
    CHECK_FALSE(has("eu-2"));
    CHECK(t.table.take_news().updated.size() == 1);
}

TEST_CASE("MonitorTable: jobs stay until the namespaces that a selector needs are listed") {
    Table t;
    t.table.set_owner(owner_of_services());
    t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}]})");
    REQUIRE(t.settles());
    const std::vector<MonitorJobPtr> jobs = t.table.jobs();
    REQUIRE(jobs.size() == 1);
    t.table.take_news();

    MonitorOwner owner = owner_of_services();
    owner.selections[0].namespaces = LabelSelector::parse("env=prod");
    t.table.set_owner(owner);
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::waiting);
    CHECK(t.table.jobs() == jobs);
    CHECK_FALSE(t.table.has_news());

    t.list_namespace("prod");
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::accepted);
    CHECK(t.table.jobs() == jobs);
    t.list_namespace("test");
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::unselected);
    CHECK(t.table.jobs().empty());
}

TEST_CASE("MonitorTable: without any namespace in the list, no monitor waits for it") {
    Table t;
    MonitorOwner owner = owner_of_services();
    owner.selections[0].namespaces = LabelSelector::parse("env=prod");
    t.table.set_owner(owner);
    t.set_monitor(R"({"selector": {}, "endpoints": [{"port": "a"}]})");
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::waiting);
    ObjectDiff<api::Namespace> nothing;
    nothing.full = true;
    t.table.apply(nothing);
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::unselected);
    t.table.forget_namespaces();
    t.list_namespace("prod");
    REQUIRE(t.settles());
    CHECK(t.state() == MonitorState::accepted);
}

}  // namespace k8s_sd::test
