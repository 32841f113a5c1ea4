// A host that keeps the Secrets and ConfigMaps of its workloads while they are rotated, as the
// kubelet does for its pods. Each object has one watch, however many workloads refer to it.
//
//     object_cache [OPTION]... [URL]      without a server: a simulated cluster
//
// It prints names and sizes, never data.

#include "k8s_sd/cache/object_cache.hpp"

#include "cli/cluster.hpp"
#include "cli/option_values.hpp"
#include "k8s_sd/cache/reference_sets.hpp"
#include "support/small_example.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;
using Names = std::set<k8s_sd::ObjectName>;

/// The objects of one kind needed by the workloads.
class Objects {
 public:
    Objects(const asio::any_io_executor& executor, k8s_sd::Kind kind,
            const k8s_sd::DiscoveryConfig& server, std::function<void()> on_change)
        : kind_(k8s_sd::resource_of(kind).kind),
          cache_(executor, {.kind = kind,
                            .api_server = server.api_server,
                            .kubeconfig_file = server.kubeconfig_file,
                            .kubeconfig_context = server.kubeconfig_context}),
          references_(cache_),
          on_change_(std::move(on_change)) {}

    /// Sets the objects the workload needs from now on.
    void set(const std::string& workload, const Names& names) {
        references_.set(workload, names);
        needed_[workload] = names;
        for (const k8s_sd::ObjectName& name : names) follow(name);
        // Following an object refers to it, so objects no workload needs must not be followed.
        std::erase_if(followed_, [this](const auto& item) { return !is_needed(item.first); });
    }
    /// Reads an object a workload needs to start; both presence and absence are results.
    void read(const k8s_sd::ObjectName& name) {
        cache_.async_get(name.ns, name.name,
                         [this, name](k8s_sd::error_code ec, const k8s_sd::ObjectPtr& object) {
                             if (ec == asio::error::operation_aborted) return;
                             std::cout << "read " << kind_ << ' ' << name.ns << '/' << name.name
                                       << ": " << (ec ? ec.message() : sizes(object)) << std::endl;
                         });
    }
    /// Prints the last status and releases everything.
    void stop() {
        for (const k8s_sd::CachedObjectStatus& object : cache_.status().objects) {
            std::cout << kind_ << ' ' << object.ns << '/' << object.name << " is "
                      << to_string(object.state) << ", " << object.references << " references"
                      << (object.error ? "; " + object.message : "") << std::endl;
        }
        cache_.cancel();
    }

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
    bool is_needed(const k8s_sd::ObjectName& name) const {
        return std::any_of(needed_.begin(), needed_.end(),
                           [&](const auto& workload) { return workload.second.contains(name); });
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
    std::function<void()> on_change_;
    std::map<std::string, Names> needed_;  // by workload
    std::map<k8s_sd::ObjectName, k8s_sd::ObjectCache::Subscription> followed_;
};

/// The references of the workloads.
struct References {
    std::string ns = "shop";
    std::string secret = "db-credentials";
    std::string other_secret = "queue-token";
    std::string config_map = "settings";
};

void run(const support::Arguments& arguments, const References& names) {
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), arguments.server, cli::Scene::credentials);
    cluster.start_changes(std::chrono::milliseconds(100));
    std::function<void()> stop;
    unsigned left = arguments.diffs;
    const auto on_change = [&] {
        if (left > 0 && --left == 0) stop();
    };
    Objects secrets(io.get_executor(), k8s_sd::Kind::secret, cluster.config(), on_change);
    Objects config_maps(io.get_executor(), k8s_sd::Kind::configmap, cluster.config(), on_change);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    stop = [&] {
        secrets.stop();
        config_maps.stop();
        signals.cancel();
        cluster.stop();
    };
    signals.async_wait([&](boost::system::error_code ec, int) {
        if (!ec) stop();
    });

    // Workloads are added, and one is removed; objects of the others stay.
    const k8s_sd::ObjectName shared{names.ns, names.secret};
    const k8s_sd::ObjectName other{names.ns, names.other_secret};
    secrets.set("web", {shared});
    config_maps.set("web", {{names.ns, names.config_map}});
    secrets.set("worker", {shared, other});
    secrets.set("job", {other});
    secrets.read(shared);
    secrets.set("job", {});
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    References names;
    const auto option = [](const char* name, const char* what, std::string& member) {
        return cli::Option{name, "NAME", std::string(what) + " (default " + member + ")",
                           cli::text(member)};
    };
    return support::run_example(
        "object_cache", "Prints how the Secrets and ConfigMaps of three workloads change.", argc,
        argv, [&](const auto& arguments) { run(arguments, names); },
        {option("--namespace", "of all of them", names.ns),
         option("--secret", "of two workloads", names.secret),
         option("--other-secret", "another one, of two workloads", names.other_secret),
         option("--config-map", "of one workload", names.config_map)});
}
