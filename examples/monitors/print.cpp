#include "cli/cluster.hpp"
#include "follow.hpp"
#include "k8s_sd/api/config_map.hpp"
#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/monitors/monitor_access.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace monitors {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

/// Reads everything that a monitor may become a configuration of, once.
class Reader {
 public:
    Reader(asio::io_context& io, k8s_sd::WatcherConfig server, std::string ns, std::string name)
        : io_(io), server_(std::move(server)), ns_(std::move(ns)), name_(std::move(name)) {}

    void read_monitors(k8s_sd::LabelDialect dialect) {
        for (const k8s_sd::MonitorKind kind : k8s_sd::monitor_kinds_of(dialect)) {
            read_object(std::string(to_string(kind)), ns_, name_, [this](json::object object) {
                inputs.objects.emplace_back(std::move(object));
            });
        }
    }
    void read_owner(const k8s_sd::MonitorOwnerObject& owner) {
        read_values(owner.object_namespace);
        inputs.owner_namespace = owner.object_namespace;
        read_object(std::string(to_string(owner.kind)), owner.object_namespace, owner.name,
                    [this](json::object object) { inputs.owner = std::move(object); });
    }
    void read_namespaces() {
        read<k8s_sd::api::Namespace>(server_, [this](const k8s_sd::api::Namespace& object) {
            auto& labels = inputs.namespaces[std::string(object.metadata.name)];
            for (const auto& [key, value] : object.metadata.labels) labels.emplace(key, value);
        });
    }
    void read_values(const std::string& ns) {
        using Kind = k8s_sd::MonitorReference::Kind;
        k8s_sd::WatcherConfig config = server_;
        config.namespaces = {ns};
        const auto add = [this](Kind kind, const auto& object, const k8s_sd::api::StringMap& data) {
            for (const auto& [key, value] : data) {
                inputs.values[{kind, std::string(object.metadata.namespace_),
                               std::string(object.metadata.name), std::string(key)}] = value;
                if (kind == Kind::secret) secrets.emplace(value);
            }
        };
        read<k8s_sd::api::Secret>(config, [=](const k8s_sd::api::Secret& object) {
            add(Kind::secret, object, object.data);
        });
        read<k8s_sd::api::ConfigMap>(config, [=](const k8s_sd::api::ConfigMap& object) {
            add(Kind::config_map, object, object.data);
            add(Kind::config_map, object, object.binary_data);
        });
    }

    std::function<void()> on_end;
    k8s_sd::MonitorInputs inputs;
    std::set<std::string> secrets;

 private:
    template <class Take>
    void read_object(const std::string& kind, const std::string& ns, const std::string& name,
                     Take take) {
        k8s_sd::WatcherConfig config = server_;
        config.namespaces = {ns};
        config.field_selector = "metadata.name=" + name;
        const bool of_vm = kind.starts_with("VM");
        config.resource = {
            .group = std::string(of_vm ? k8s_sd::vm_monitor_api_group : k8s_sd::monitor_api_group),
            .kind = kind};
        read<k8s_sd::Generic>(config, [kind, take](const k8s_sd::Generic& found) {
            json::object object = found.content;
            json::object labels;
            for (const auto& [key, value] : found.metadata.labels) labels[key] = value;
            object["kind"] = kind;
            object["metadata"] = json::object{{"name", found.metadata.name},
                                              {"namespace", found.metadata.namespace_},
                                              {"labels", std::move(labels)}};
            take(std::move(object));
        });
    }

    template <class T, class Take>
    void read(const k8s_sd::WatcherConfig& config, Take take) {
        ++pending_;
        auto watcher = std::make_shared<k8s_sd::Watcher<T>>(io_.get_executor(), config);
        // A kind that the server does not have is as good as empty.
        watcher->set_status_callback([watcher](const k8s_sd::DiscovererStatus& status) {
            if (status.error && !status.synced) {
                std::cerr << "monitors: " << status.message << std::endl;
                watcher->cancel();
            }
        });
        watcher->async_next(
            [this, watcher, take](k8s_sd::error_code ec, const k8s_sd::ObjectDiff<T>& diff) {
                if (!ec) {
                    for (const auto& object : diff.added) take(*object);
                }
                watcher->set_status_callback({});
                watcher->cancel();
                if (--pending_ == 0 && on_end) on_end();
            });
    }

    asio::io_context& io_;
    k8s_sd::WatcherConfig server_;
    std::string ns_;
    std::string name_;
    std::size_t pending_ = 0;
};

/// Hides the values of Secrets.
void mask(json::value& value, const std::set<std::string>& secrets) {
    if (value.is_string()) {
        if (secrets.contains(std::string(value.get_string()))) value = "<secret>";
    } else if (value.is_array()) {
        for (json::value& item : value.get_array()) mask(item, secrets);
    } else if (value.is_object()) {
        for (auto& entry : value.get_object()) mask(entry.value(), secrets);
    }
}

/// These jobs are parsed from a Secret. Their text is no whole value of it, so mask() would print
/// their credentials.
void leave_out_additional(json::value& owner) {
    json::object* const object = owner.if_object();
    json::value* const spec = object ? object->if_contains("spec") : nullptr;
    if (spec && spec->is_object()) spec->get_object().erase("additionalScrapeConfigs");
}

/// An owner that selects all monitors.
json::object owner_of_all() {
    json::object spec{{"serviceDiscoveryRole", "EndpointSlice"}};
    for (const char* kind : {"serviceMonitor", "podMonitor", "probe", "scrapeConfig"}) {
        spec[std::string(kind) + "Selector"] = json::object();
        spec[std::string(kind) + "NamespaceSelector"] = json::object();
    }
    return {{"kind", "Prometheus"},
            {"metadata", json::object{{"name", "k8s-sd"}, {"namespace", "default"}}},
            {"spec", std::move(spec)}};
}

}  // namespace

void print(const ClusterOptions& options, const std::string& object) {
    const std::size_t slash = object.find('/');
    if (slash == object.npos) throw cli::UsageError("--print: must be NAMESPACE/NAME");
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), options.server);
    Reader reader(io, cluster.watcher_config(), object.substr(0, slash), object.substr(slash + 1));
    reader.on_end = [&] { cluster.stop(); };
    const auto owner = owner_of(options);
    if (const auto* document = std::get_if<k8s_sd::MonitorOwnerDocument>(&owner)) {
        reader.inputs.owner = document->object;
        reader.inputs.owner_namespace = document->default_namespace;
    } else if (const auto* named = std::get_if<k8s_sd::MonitorOwnerObject>(&owner)) {
        reader.read_owner(*named);
    } else {
        reader.inputs.owner = owner_of_all();
        reader.inputs.owner_namespace = "default";
    }
    reader.read_values(object.substr(0, slash));
    reader.read_namespaces();
    const bool of_prometheus = k8s_sd::supports_monitors(k8s_sd::LabelDialect::prometheus, owner);
    reader.read_monitors(of_prometheus ? k8s_sd::LabelDialect::prometheus
                                       : k8s_sd::LabelDialect::victoriametrics);
    io.run();
    leave_out_additional(reader.inputs.owner);
    k8s_sd::MonitorConfiguration made = k8s_sd::make_monitor_configuration(reader.inputs);
    if (made.refusal) throw cli::Unusable("the owner is refused: " + made.refusal->reason);
    for (const k8s_sd::RefusedMonitor& refused : made.refused) {
        std::cerr << refused.object << " is refused: " << refused.refusal.reason << "; "
                  << refused.refusal.remedy << std::endl;
    }
    if (made.accepted.empty()) {
        throw cli::Unusable(object + ": there is no such monitor, or the owner does not select "
                                     "it, or it is refused");
    }
    json::value config = std::move(made.config);
    mask(config, reader.secrets);
    std::cout << k8s_sd::to_yaml(config);
}

}  // namespace monitors
