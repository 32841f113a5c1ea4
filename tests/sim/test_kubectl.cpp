#include "k8s_sd/sim/shop.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

/// The simulated server with an independent client. Skipped without kubectl.

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using k8s_sd::sim::ApiServer;
using k8s_sd::sim::Shop;

struct Output {
    std::string text;
    int status = -1;
};

Output run(const std::string& command) {
    Output output;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> buffer{};
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.text.append(buffer.data(), size);
    }
    output.status = pclose(pipe);
    return output;
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Cluster {
 public:
    Cluster() {
        if (run("kubectl version --client").status != 0) SKIP("kubectl is not installed");
        std::string pattern = std::filesystem::temp_directory_path() / "k8s_sd-kubectl-XXXXXX";
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        home_ = pattern;
        server.listen();
        thread_ = std::thread([this] { context_.run(); });
    }
    ~Cluster() {
        context_.stop();
        if (thread_.joinable()) thread_.join();
        if (!home_.empty()) std::filesystem::remove_all(home_);
    }

    Output kubectl(const std::string& arguments, const std::string& time_limit = "30") {
        return run("HOME=" + home_ + " KUBECONFIG=/dev/null timeout " + time_limit +
                   " kubectl --server=" + server.url() + " " + arguments);
    }

 private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_ =
        asio::make_work_guard(context_);
    std::string home_;
    std::thread thread_;

 public:
    ApiServer server{context_.get_executor()};
    Shop shop{server};
};

}  // namespace

TEST_CASE("kubectl: it lists the cluster as tables") {
    Cluster cluster;
    const Output pods = cluster.kubectl("get pods -A");
    INFO(pods.text);
    CHECK(pods.status == 0);
    CHECK(pods.text.starts_with("NAMESPACE"));
    CHECK(pods.text.find("shop          orders-db-0 ") != std::string::npos);
    CHECK(pods.text.find("Running") != std::string::npos);
    CHECK(lines(pods.text) == 1 + cluster.server.count("pods"));
    const Output services = cluster.kubectl("get svc,ep,endpointslices,ing,deploy,rs -n shop");
    INFO(services.text);
    CHECK(services.status == 0);
    CHECK(services.text.find("deployment.apps/cart") != std::string::npos);
    CHECK(services.text.find("ingress.networking.k8s.io/storefront") != std::string::npos);
}

TEST_CASE("kubectl: selectors, single objects and errors work") {
    Cluster cluster;
    const Output selected =
        cluster.kubectl("get pods -A -l 'app.kubernetes.io/name in (cart)' --no-headers");
    INFO(selected.text);
    CHECK(lines(selected.text) == 3);
    const Output on_node =
        cluster.kubectl("get pods -A --field-selector spec.nodeName=node-a1 -o json");
    const json::value list = json::parse(on_node.text);
    for (const json::value& pod : list.at("items").as_array()) {
        CHECK(pod.at("spec").at("nodeName") == "node-a1");
    }
    const Output one = cluster.kubectl("get pod orders-db-1 -n shop -o json");
    CHECK(json::parse(one.text).at("metadata").at("name") == "orders-db-1");
    const Output missing = cluster.kubectl("get pod nobody -n shop");
    CHECK(missing.text == "Error from server (NotFound): pods \"nobody\" not found\n");
    CHECK(missing.status != 0);
    cluster.server.deny("secrets");
    const Output denied = cluster.kubectl("get secrets");
    CHECK(denied.text.starts_with("Error from server (Forbidden): secrets is forbidden"));
    const Output paged = cluster.kubectl("get pods -A --chunk-size=4 -o name");
    CHECK(lines(paged.text) == cluster.server.count("pods"));
}

TEST_CASE("kubectl: a watch prints what changes") {
    Cluster cluster;
    std::atomic<bool> done{false};
    std::thread changes([&] {
        while (!done) {
            if (cluster.server.open_watches() == 0) {
                std::this_thread::yield();
                continue;
            }
            for (int i = 0; i < 40; ++i) cluster.shop.step();
            cluster.server.end_watches();  // kubectl ends with the stream
            return;
        }
    });
    const std::size_t before = cluster.server.count("pods");
    const Output watch = cluster.kubectl("get pods -A --watch");
    done = true;
    changes.join();
    INFO(watch.text);
    CHECK(watch.status == 0);
    CHECK(lines(watch.text) > 1 + before);
}
