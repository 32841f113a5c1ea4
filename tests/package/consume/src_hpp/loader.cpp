// Loads the plugins given as arguments and lets all of them discover one simulated cluster at the
// same time, first with local symbols, then with global ones.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <iostream>
#include <k8s_sd/sim/api_server.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Discover = void(const char* url, char* address, std::size_t size);

Discover* load(const char* path, int visibility) {
    void* const plugin = dlopen(path, RTLD_NOW | visibility);
    if (plugin == nullptr) std::cerr << dlerror() << '\n';
    return plugin == nullptr ? nullptr : reinterpret_cast<Discover*>(dlsym(plugin, "discover"));
}

bool all_discover(const std::vector<const char*>& paths, int visibility, const std::string& url) {
    std::vector<Discover*> plugins;
    for (const char* path : paths) plugins.push_back(load(path, visibility));
    if (std::count(plugins.begin(), plugins.end(), nullptr) > 0) return false;
    std::vector<std::array<char, 64>> found(paths.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        threads.emplace_back([&, i] { plugins[i](url.c_str(), found[i].data(), 64); });
    }
    for (std::thread& thread : threads) thread.join();
    bool good = true;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        std::cout << paths[i] << " found " << found[i].data() << '\n';
        good = good && std::string(found[i].data()) == "10.0.0.1:8080";
    }
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    boost::asio::io_context context;
    k8s_sd::sim::ApiServer server(context.get_executor());
    server.listen();
    server.apply(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 8080}]}]},
        "status": {"phase": "Running", "podIP": "10.0.0.1"}})");
    const auto work = boost::asio::make_work_guard(context);
    const std::string url = server.url();
    std::thread serving([&] { context.run(); });

    // Those after the first stay loaded, so the second round tests the same copies again.
    std::vector<const char*> paths(argv + 1, argv + argc);
    const bool good = all_discover(paths, RTLD_LOCAL, url) && all_discover(paths, RTLD_GLOBAL, url);
    context.stop();
    serving.join();
    return good && argc > 1 ? 0 : 1;
}
