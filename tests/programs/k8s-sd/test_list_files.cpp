#include "files/list_files.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/environment.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr const char* config = R"yaml(
scrape_configs:
- job_name: web
  static_configs:
  - targets: [10.0.0.1:80]
)yaml";

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void await(const std::function<bool()>& is_done) {
    while (!is_done()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("ListFiles: a file that others remove or change is written again") {
    std::string name = fs::temp_directory_path() / "k8s-sd-XXXXXX";
    REQUIRE(::mkdtemp(name.data()));
    const fs::path file = fs::path(name) / "web.json";
    asio::io_context io;
    k8s_sd_program::ServeMetrics metrics;
    k8s_sd_program::ServedJobs jobs(asio::make_strand(io), io.get_executor(), {}, metrics);
    CHECK(jobs.apply(k8s_sd::parse_scrape_configs(config, {}, "test")).empty());
    {
        asio::thread_pool worker(1);
        k8s_sd_program::ListFiles files(
            worker.get_executor(), k8s_sd::system_clock(), name,
            k8s_sd_program::ListForm::relabelled, [](const auto&) {}, metrics.files,
            std::chrono::milliseconds(1));
        files.follow(jobs);
        std::jthread thread([&] { io.run(); });
        await([&] { return fs::exists(file); });
        const std::string list = text_of(file);
        CHECK(list.find("10.0.0.1:80") != list.npos);
        fs::remove(file);
        await([&] { return fs::exists(file); });
        std::ofstream(file) << "[]";
        await([&] { return text_of(file) == list; });
        asio::post(io, [&] { jobs.stop(); });
    }
    fs::remove_all(name);
}
