#include "jobs/served_job.hpp"
#include "k8s_sd/target_group.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using k8s_sd_program::ListAnswer;
using k8s_sd_program::ServedJob;

TEST_CASE(
    "ServedJob: the reason for a missing list is formatted only for readers that receive it") {
    boost::asio::io_context io;
    k8s_sd_program::ListMetrics metrics;
    k8s_sd::ScrapeConfig config;
    config.job_name = "pods";
    int reasons = 0;
    const auto why = [&] { return "reason " + std::to_string(++reasons); };
    const auto job = std::make_shared<ServedJob>(io.get_executor(), config,
                                                 k8s_sd_program::ServeOptions(), why, metrics);
    std::vector<std::string> received;
    const auto note = [&](const ListAnswer& answer) { received.push_back(answer.refusal); };
    for (int i = 0; i < 100; ++i) job->get({.first_list_timeout = std::chrono::hours(1)}, note);
    io.poll();
    CHECK(job->held() == 100);
    CHECK(reasons == 0);
    job->get({}, note);
    io.poll();
    CHECK(received == std::vector<std::string>{"reason 1"});
    job->stop("the end");
    io.run();
    CHECK(reasons == 1);
    CHECK(received.size() == 101);
    CHECK(received.back() == "the end");
}

TEST_CASE("ServedJob: targets that fail are reported with an example, and not too often") {
    using namespace std::chrono_literals;
    using k8s_sd::LabelMap;
    boost::asio::io_context io;
    k8s_sd_program::ListMetrics metrics;
    const auto clock = std::make_shared<k8s_sd::sim::ManualClock>();
    std::vector<std::string> reports;
    k8s_sd_program::ServeOptions options;
    options.clock = clock;
    options.on_failed = [&](const std::string& job, const auto& counts,
                            const std::string& example) {
        reports.push_back(job + " " + std::to_string(counts.failed) + " " + example);
    };
    k8s_sd::ScrapeConfig config;
    config.job_name = "web";
    k8s_sd::RelabelRule twice;
    twice.source_labels = {"x"};
    twice.target_label = "x";
    twice.replacement = "$1$1";
    config.relabel_configs = std::vector<k8s_sd::RelabelRule>(24, twice);
    const auto job = std::make_shared<ServedJob>(
        io.get_executor(), config, options, [] { return std::string(); }, metrics);
    k8s_sd::TargetGroupMaker maker;
    const auto put = [&](const std::string& source, const std::vector<LabelMap>& targets) {
        k8s_sd::JobDiff diff;
        diff.job = "web";
        diff.full = true;
        diff.providers.emplace_back().provider = 1;
        diff.providers.back().diff.full = true;
        diff.providers.back().diff.updated.push_back(
            {maker.make(source, {}, targets), nullptr, false});
        job->apply(std::move(diff));
        io.restart();
        io.poll();
    };
    const auto target = [](const std::string& address, const std::string& x) {
        return LabelMap{{"__address__", address}, {"x", x}};
    };
    put("pod/a", {target("a:1", "")});
    CHECK(reports.empty());
    put("pod/a", {target("a:1", "xx")});
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].starts_with("web 1 a:1: relabel_configs["));
    put("pod/a", {target("a:1", "")});
    put("pod/a", {target("a:1", "xx")});
    put("pod/a", {target("a:1", "xx"), target("a:2", "xx")});
    CHECK(reports.size() == 1);
    clock->advance(10min);
    put("pod/a", {target("a:1", "xx"), target("a:2", "xx"), target("a:3", "")});
    CHECK(reports.size() == 2);
    clock->advance(10min);
    put("pod/a", {target("a:1", "xx"), target("a:2", "xx"), target("a:4", "")});
    CHECK(reports.size() == 2);
    job->stop("the end");
    io.restart();
    io.run();
}

TEST_CASE("ServedJob: a job of several clusters starts after a time without those that are away") {
    using namespace std::chrono_literals;
    boost::asio::io_context io;
    k8s_sd_program::ListMetrics metrics;
    const auto clock = std::make_shared<k8s_sd::sim::ManualClock>();
    std::string log;
    k8s_sd_program::ServeOptions options;
    options.clock = clock;
    options.on_complete = [&](const std::string&, const auto&) { log += "complete "; };
    options.on_missing_clusters = [&](const std::string&, const auto&, const auto& missing) {
        for (const std::string& name : missing) log += "without " + name + " ";
    };
    k8s_sd::ScrapeConfig config;
    config.job_name = "nodes";
    std::shared_ptr<ServedJob> job;
    const auto work = [&] {
        io.restart();
        io.poll();
    };
    const auto deliver = [&](k8s_sd::ProviderId provider) {
        k8s_sd::JobDiff diff;
        diff.providers.emplace_back().provider = provider;
        diff.providers.back().diff.full = true;
        job->apply(std::move(diff));
        work();
    };
    const auto begin = [&] {
        log.clear();
        job = std::make_shared<ServedJob>(
            io.get_executor(), config, options, [] { return std::string("waits"); }, metrics);
        job->expect({.clusters = {{"blue", {1}}, {"green", {2}}}},
                    [] { return std::string("; for green"); });
        work();
    };
    const auto end = [&] {
        job->stop("the end");
        io.restart();
        io.run();
    };

    SECTION("and says so; the others follow") {
        begin();
        deliver(1);
        clock->advance(29s);
        work();
        CHECK_FALSE(job->complete());
        CHECK(job->why_incomplete() == "waits; for green");
        // Another configuration does not begin the time anew.
        job->expect({.clusters = {{"blue", {1}}, {"green", {3}}}});
        work();
        clock->advance(1s);
        work();
        CHECK(job->complete());
        CHECK(job->missing_clusters() == std::vector<std::string>{"green"});
        CHECK(log == "without green ");
        deliver(3);
        CHECK(job->missing_clusters().empty());
        CHECK(log == "without green complete ");
        end();
    }
    SECTION("or with the first that is there later") {
        begin();
        clock->advance(1h);
        work();
        CHECK_FALSE(job->complete());
        deliver(2);
        CHECK(job->complete());
        CHECK(log == "without blue ");
        end();
    }
    SECTION("and waits for all of them again when it returns") {
        begin();
        deliver(1);
        clock->advance(30s);
        work();
        CHECK(job->complete());
        job->leave("gone");
        job->expect({.clusters = {{"blue", {1}}, {"green", {2}}}});
        job->come_back();
        work();
        CHECK_FALSE(job->complete());
        clock->advance(30s);
        work();
        CHECK(job->complete());
        end();
    }
    SECTION("but not without a limit") {
        options.start_without_clusters.reset();
        begin();
        deliver(1);
        clock->advance(1h);
        work();
        CHECK_FALSE(job->complete());
        deliver(2);
        CHECK(log == "complete ");
        end();
    }
}
