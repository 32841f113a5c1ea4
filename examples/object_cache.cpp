// A host that keeps the Secrets and ConfigMaps its workloads refer to, as the kubelet does for its
// pods, while they are rotated. Each object has one watch, however many workloads refer to it.
//
//     object_cache [--diffs N] [URL]      without URL: a simulated cluster
//
// It prints names and sizes, never data.

#include "k8s_sd/cache/object_cache.hpp"

#include "k8s_sd/cache/reference_sets.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/arguments.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

using Names = std::set<k8s_sd::ObjectName>;

k8s_sd::ObjectCacheConfig config_of(k8s_sd::Kind kind, const std::string& url) {
    k8s_sd::ObjectCacheConfig config;
    config.kind = kind;
    config.api_server.url = url;
    return config;
}

/// The objects of one kind that the workloads need.
class Objects {
 public:
    using OnChange = std::function<void()>;

    Objects(const asio::any_io_executor& executor, k8s_sd::Kind kind, const std::string& url,
            OnChange on_change)
        : kind_(k8s_sd::resource_of(kind).kind),
          cache_(executor, config_of(kind, url)),
          references_(cache_),
          on_change_(std::move(on_change)) {}

    /// The workload needs these objects from now on, and no others.
    void set(const std::string& workload, const Names& names) {
        references_.set(workload, names);
        needed_[workload] = names;
        for (const k8s_sd::ObjectName& name : names) follow(name);
        let_go();
    }
    void drop(const std::string& workload) {
        references_.erase(workload);
        needed_.erase(workload);
        let_go();
    }
    /// Reads what a workload needs to start; both what is there and what is missing is an answer.
    void read(const k8s_sd::ObjectName& name) {
        cache_.async_get(name.ns, name.name,
                         [this, name](k8s_sd::error_code ec, const k8s_sd::ObjectPtr& object) {
                             if (ec == asio::error::operation_aborted) return;
                             std::cout << "read " << kind_ << ' ' << name.ns << '/' << name.name
                                       << ": " << (ec ? ec.message() : sizes(object)) << std::endl;
                         });
    }
    void print_status() const {
        for (const k8s_sd::CachedObjectStatus& object : cache_.status().objects) {
            std::cout << kind_ << ' ' << object.ns << '/' << object.name << " is "
                      << to_string(object.state) << ", " << object.references << " references";
            if (object.error) std::cout << "; " << object.message;
            std::cout << std::endl;
        }
    }
    void stop() { cache_.cancel(); }

 private:
    void follow(const k8s_sd::ObjectName& name) {
        if (followed_.contains(name)) return;
        followed_.emplace(name,
                          cache_.subscribe(name.ns, name.name, [this, name](const auto& object) {
                              std::cout << kind_ << ' ' << name.ns << '/' << name.name << ": "
                                        << sizes(object) << std::endl;
                              on_change_();
                          }));
    }
    // To follow an object is to refer to it: what no workload needs any more is not followed.
    void let_go() {
        std::erase_if(followed_, [this](const auto& item) {
            return std::none_of(needed_.begin(), needed_.end(), [&](const auto& workload) {
                return workload.second.contains(item.first);
            });
        });
    }
    static std::string sizes(const k8s_sd::ObjectPtr& object) {
        const k8s_sd::DataObjectPtr data = as_data_object(object);
        if (!data) return "does not exist";
        std::string text;
        for (const auto& [key, value] : *data) {
            text += text.empty() ? "" : ", ";
            (text += key) += " (" + std::to_string(value.size()) + " bytes)";
        }
        return text;
    }

    std::string_view kind_;
    k8s_sd::ObjectCache cache_;
    k8s_sd::ReferenceSets references_;  // a set for each workload
    OnChange on_change_;
    std::map<std::string, Names> needed_;  // by workload
    std::map<k8s_sd::ObjectName, k8s_sd::ObjectCache::Subscription> followed_;
};

/// A simulated cluster whose credentials are rotated.
class RotatingCluster {
 public:
    explicit RotatingCluster(asio::io_context& io)
        : server_(std::in_place, io.get_executor()), timer_(io) {
        server_->listen();
        rotate("db-credentials");
        rotate("queue-token");
        configure();
    }
    std::string url() const { return server_->url(); }
    void start() {
        timer_.expires_after(100ms);
        timer_.async_wait([this](boost::system::error_code) {
            // An error code would not do: a timer that has expired can no longer be cancelled.
            if (!server_) return;
            step();
            start();
        });
    }
    void stop() {
        timer_.cancel();
        server_.reset();
    }

 private:
    void step() {
        switch (round_++ % 4) {
            case 0: return rotate("db-credentials");
            case 1: return configure();
            case 2: return rotate("queue-token");
            default: server_->remove("secrets", "shop", "queue-token");
        }
    }
    void rotate(const std::string& name) {
        const std::string value(4 + 4 * (round_ % 8), 'c');  // base64 of something
        server_->apply(
            R"({"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"shop","name":")" + name +
            R"("},"type":"Opaque","data":{"user":"c2hvcA==","password":")" + value + R"("}})");
    }
    void configure() {
        const std::string level(round_ % 8 < 4 ? "info" : "debug");
        server_->apply(
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":"settings"},)"
            R"("data":{"log-level":")" +
            level + R"("}})");
    }

    std::optional<k8s_sd::sim::ApiServer> server_;
    asio::steady_timer timer_;
    unsigned round_ = 0;
};

void run(const Arguments& arguments) {
    asio::io_context io(1);
    std::optional<RotatingCluster> simulation;
    std::string url = arguments.url;
    if (url.empty()) {
        simulation.emplace(io);
        simulation->start();
        url = simulation->url();
    }

    std::function<void()> stop;
    unsigned left = arguments.diffs;
    const auto on_change = [&] {
        if (left > 0 && --left == 0) stop();
    };
    Objects secrets(io.get_executor(), k8s_sd::Kind::secret, url, on_change);
    Objects config_maps(io.get_executor(), k8s_sd::Kind::configmap, url, on_change);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    stop = [&] {
        secrets.print_status();
        config_maps.print_status();
        secrets.stop();
        config_maps.stop();
        signals.cancel();
        if (simulation) simulation->stop();
    };
    signals.async_wait([&](boost::system::error_code ec, int) {
        if (!ec) stop();
    });

    // Workloads come, and one goes; what the others need as well stays.
    secrets.set("web", {{"shop", "db-credentials"}});
    config_maps.set("web", {{"shop", "settings"}});
    secrets.set("worker", {{"shop", "db-credentials"}, {"shop", "queue-token"}});
    secrets.set("job", {{"shop", "queue-token"}});
    secrets.read({"shop", "db-credentials"});
    secrets.drop("job");
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
        std::cout << "usage: object_cache [--diffs N] [URL]\n"
                     "Keeps the Secrets and ConfigMaps of a few workloads, and prints how they "
                     "change.\n"
                     "  --diffs N  end after N changes; without it: on SIGINT or SIGTERM\n"
                     "  URL        of an API server; without it: a simulated cluster\n";
        return 0;
    }
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) return 2;
    try {
        run(*arguments);
    } catch (const std::exception& e) {
        std::cerr << "object_cache: " << e.what() << '\n';
        return 1;
    }
}
