#include "clusters/cluster_memory.hpp"

#include "k8s_sd/error.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd_program {

namespace {

namespace json = boost::json;

constexpr const char* file_name = "clusters.json";
constexpr std::size_t max_bytes = std::size_t{64} << 20;

std::chrono::seconds now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

std::string text_at(const json::object& object, const char* key) {
    return json::value_to<std::string>(object.at(key));
}

k8s_sd::InventoryCluster cluster_of(const json::object& object) {
    k8s_sd::InventoryCluster cluster;
    cluster.ns = text_at(object, "namespace");
    cluster.name = text_at(object, "name");
    cluster.uid = text_at(object, "uid");
    cluster.api_server.url = text_at(object, "server");
    cluster.api_server.tls.ca = text_at(object, "ca");
    cluster.api_server.tls.server_name = text_at(object, "tls_server_name");
    return cluster;
}

}  // namespace

ClusterMemory::ClusterMemory(std::shared_ptr<const k8s_sd::detail::SnapshotFiles> files,
                             k8s_sd::Duration max_age)
    : files_(std::move(files)), max_age_(max_age) {}

ClusterMemory::Loaded ClusterMemory::load(const std::string& hub) const {
    Loaded loaded;
    try {
        const k8s_sd::detail::FileBytes file = files_->read(file_name, max_bytes);
        // As at the first start.
        if (file.is_missing) return loaded;
        if (!file.problem.empty()) throw std::runtime_error(file.problem);
        const json::value content = json::parse(file.bytes);
        const json::object& all = content.as_object();
        loaded.age = now() - std::chrono::seconds(json::value_to<std::int64_t>(all.at("time")));
        if (text_at(all, "hub") != hub) throw std::runtime_error("it is of another hub");
        if (loaded.age > max_age_ || loaded.age < std::chrono::seconds(-1))
            throw std::runtime_error("it is too old, or from the future");
        for (const json::value& cluster : all.at("clusters").as_array())
            loaded.clusters.push_back(cluster_of(cluster.as_object()));
    } catch (const std::exception& error) {
        loaded.clusters.clear();
        loaded.problem = std::string(file_name) + ": " + k8s_sd::in_words(error);
    }
    return loaded;
}

std::string ClusterMemory::save(const std::string& hub,
                                const std::vector<k8s_sd::InventoryCluster>& clusters) const {
    json::array list;
    for (const k8s_sd::InventoryCluster& cluster : clusters) {
        if (cluster.api_server.url.empty()) continue;
        list.push_back(json::object{{"namespace", cluster.ns},
                                    {"name", cluster.name},
                                    {"uid", cluster.uid},
                                    {"server", cluster.api_server.url},
                                    {"ca", cluster.api_server.tls.ca},
                                    {"tls_server_name", cluster.api_server.tls.server_name}});
    }
    const json::object content{
        {"hub", hub}, {"time", now().count()}, {"clusters", std::move(list)}};
    const std::string problem =
        files_->write(file_name, max_bytes, [&] { return json::serialize(content); });
    return problem.empty() ? "" : std::string(file_name) + " cannot be written: " + problem;
}

std::string hub_in_words(const k8s_sd::InventoryConfig& config) {
    json::array namespaces;
    for (const std::string& ns : config.namespaces) namespaces.emplace_back(ns);
    return json::serialize(json::array{config.api_server.url, config.kubeconfig_file,
                                       config.kubeconfig_context, config.label_selector,
                                       namespaces});
}

}  // namespace k8s_sd_program
