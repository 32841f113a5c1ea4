#include "jobs/served_job.hpp"

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
