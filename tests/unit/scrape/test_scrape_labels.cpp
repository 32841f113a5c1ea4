#include "k8s_sd/detail/scrape/target_packer.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <variant>
#include <vector>

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::make_group;

namespace {

static_assert(std::ranges::forward_range<ScrapeLabels>);

ScrapeConfig job() {
    ScrapeConfig config;
    config.job_name = "job";
    return config;
}

ScrapeTargetPtr build(TargetBuilder& builder, LabelMap labels) {
    labels.emplace("__address__", "h:1");
    return std::get<ScrapeTargetPtr>(builder.build(make_group("p", {labels}), 0));
}

using Label = ScrapeLabels::value_type;

}  // namespace

TEST_CASE("ScrapeLabels: a range of names and values, sorted by name") {
    TargetBuilder builder(job());
    const std::string long_value(1000, 'x');
    const auto target = build(builder, {{"app", "web"}, {"zone", long_value}, {"job", "own"}});
    const ScrapeLabels labels = target->labels();
    CHECK(std::is_sorted(labels.begin(), labels.end(),
                         [](const Label& a, const Label& b) { return a.name < b.name; }));
    CHECK(static_cast<std::size_t>(std::distance(labels.begin(), labels.end())) == labels.size());
    CHECK(labels.size() == labels.to_map().size());
    CHECK(labels.get("app") == "web");
    CHECK(labels.get("zone") == long_value);
    CHECK(labels.get("job") == "own");
    CHECK(labels.get("__scheme__") == "http");
    CHECK(labels.get("nothing").empty());
    auto first = labels.begin();
    CHECK(first++ == labels.begin());
    CHECK(first == std::next(labels.begin()));
    CHECK(ScrapeLabels().empty());
    CHECK(ScrapeLabels().begin() == ScrapeLabels().end());
}

TEST_CASE("ScrapeLabels: targets of a job share names, and values of the job") {
    TargetBuilder builder(job());
    const auto a = build(builder, {{"app", "a"}});
    const auto b = build(builder, {{"app", "b"}});
    CHECK((*a->labels().begin()).name.data() == (*b->labels().begin()).name.data());
    CHECK(a->get("job").data() == b->get("job").data());
    CHECK(a->get("app") == "a");
    CHECK(b->get("app") == "b");
    CHECK_FALSE(a->labels() == b->labels());
}

TEST_CASE("ScrapeLabels: an instance that is the address is not stored again") {
    TargetBuilder builder(job());
    const auto plain = build(builder, {});
    CHECK(plain->get("instance").data() == plain->get("__address__").data());
    const auto behind = build(builder, {{"A", std::string(300, 'a')}, {"B", "b"}, {"zone", "z"}});
    CHECK(behind->get("instance") == "h:1");
    CHECK(behind->get("zone") == "z");
    const auto own = build(builder, {{"instance", "mine"}, {"zone", "z"}});
    CHECK(own->get("instance") == "mine");
    CHECK(own->get("zone") == "z");
}

TEST_CASE("ScrapeLabels: equal labels are equal whoever has set them") {
    RelabelRule rule;
    rule.target_label = "__scheme__";
    rule.replacement = "http";
    ScrapeConfig other = job();
    other.scheme = "https";
    other.relabel_configs = {rule};
    TargetBuilder one(job()), two(other);
    const auto a = build(one, {{"app", "a"}});
    const auto b = build(two, {{"app", "a"}});
    CHECK(a->labels() == b->labels());
    CHECK(a->same_as(*b));
    CHECK_FALSE(a->same_as(*build(two, {{"app", "b"}})));
    CHECK_FALSE(a->same_as(*build(two, {{"app", "a"}, {"more", "1"}})));
}

TEST_CASE("ScrapeTarget: it outlives the builder that made it") {
    ScrapeTargetPtr target;
    {
        TargetBuilder builder(job());
        target = build(builder, {{"__scrape_interval__", "30s"}, {"__meta_x", "1"}});
    }
    CHECK(target->scrape_interval() == 30s);
    CHECK(target->scrape_timeout() == 10s);
    CHECK(target->url() == "http://h:1/metrics");
    CHECK(target->get("__scrape_interval__") == "30s");
    CHECK(target->discovered_labels().at("__meta_x") == "1");
}

TEST_CASE("TargetPacker: what no target shares any more is forgotten") {
    detail::TargetPacker packer(
        std::make_shared<const detail::PreparedJob>(std::make_shared<const ScrapeConfig>(job())));
    const auto group = make_group("p", {{{"__address__", "h:1"}}});
    const auto pack = [&](const std::string& name) {
        const std::vector<Label> labels{{"__address__", "h:1"}, {name, "1"}};
        return packer.pack(labels, "http://h:1/metrics", 1min, 10s, group, 0);
    };
    const auto kept = pack("kept");
    for (int i = 0; i < 10'000; ++i) pack("label_" + std::to_string(i));
    CHECK(packer.shape_count() < 1'000);
    const std::size_t before = packer.shape_count();
    CHECK(pack("kept")->labels() == kept->labels());
    CHECK(packer.shape_count() == before);
}

TEST_CASE("TargetPacker: what only a huge target needed goes with it") {
    detail::TargetPacker packer(
        std::make_shared<const detail::PreparedJob>(std::make_shared<const ScrapeConfig>(job())));
    const auto group = make_group("p", {{{"__address__", "h:1"}}});
    const auto pack = [&](const std::vector<std::string>& names) {
        std::vector<Label> labels{{"__address__", "h:1"}};
        for (const std::string& name : names) labels.push_back({name, name});
        return packer.pack(labels, "http://h:1/metrics", 1min, 10s, group, 0);
    };
    pack({"a", "b"});
    std::vector<std::string> names;
    for (int i = 100'000; i < 120'000; ++i) names.push_back("label_" + std::to_string(i));
    auto huge = pack(names);
    CHECK(huge->labels().size() == 20'001);
    // Its shape is freed with the next new one.
    huge.reset();
    pack({"c"});
    CHECK(packer.shape_count() == 1);
    pack({"d"});
    CHECK(packer.shape_count() == 2);
}
