#include "config_map.hpp"

#include "cli/command_line.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace kubectl_sd {

namespace {

std::string in_words(const ConfigMapKey& key) {
    return "the ConfigMap " + key.name + " in the namespace " + key.ns;
}

k8s_sd::DataObjectPtr read_from_server(const ConfigMapKey& key,
                                       const k8s_sd::DiscoveryConfig& server,
                                       k8s_sd::Duration timeout) {
    boost::asio::io_context io;
    k8s_sd::Environment environment;
    environment.logger.level = k8s_sd::LogLevel::off;
    k8s_sd::install(io, environment);
    k8s_sd::ObjectCache cache(io.get_executor(), {.kind = k8s_sd::Kind::configmap,
                                                  .api_server = server.api_server,
                                                  .kubeconfig_file = server.kubeconfig_file,
                                                  .kubeconfig_context = server.kubeconfig_context,
                                                  .get_timeout = timeout});
    const auto reference = cache.add_reference(key.ns, key.name);
    k8s_sd::DataObjectPtr result;
    k8s_sd::error_code error;
    cache.async_get(reference, [&](k8s_sd::error_code ec, const k8s_sd::ObjectPtr& object) {
        error = ec;
        result = k8s_sd::as_data_object(object);
        cache.cancel();
    });
    io.run();
    if (error || !result) throw std::runtime_error(in_words(key) + ": " + error.message());
    return result;
}

/// The key whose value is the configuration.
std::string key_in(const k8s_sd::DataObject& map, const ConfigMapKey& key) {
    std::string keys;
    for (const auto& [name, value] : map) (keys += keys.empty() ? "" : ", ") += name;
    if (!key.key.empty()) {
        if (map.get(key.key)) return key.key;
        throw std::runtime_error(in_words(key) + ": has no key " + key.key + "; its keys are " +
                                 keys);
    }
    if (map.size() == 1) return keys;
    for (const std::string_view usual : {"prometheus.yml", "prometheus.yaml", "scrape.yml"}) {
        if (map.get(usual)) return std::string(usual);
    }
    throw std::runtime_error(in_words(key) + ": name one of its keys: " + keys);
}

}  // namespace

ConfigMapKey read_config_map_key(const std::string& text) {
    std::istringstream parts(text);
    ConfigMapKey key;
    std::getline(parts, key.ns, '/');
    std::getline(parts, key.name, '/');
    std::getline(parts, key.key);
    const bool is_file =
        key.key.find('/') == std::string::npos && key.key != "." && key.key != "..";
    if (key.ns.empty() || key.name.empty() || !is_file) {
        throw cli::UsageError("must be NAMESPACE/NAME or NAMESPACE/NAME/KEY, such as "
                              "monitoring/prometheus/prometheus.yml");
    }
    return key;
}

ConfigMapText read_config_map(const ConfigMapKey& key, const k8s_sd::DiscoveryConfig& server,
                              k8s_sd::Duration timeout) {
    const k8s_sd::DataObjectPtr map = read_from_server(key, server, timeout);
    std::string name = key_in(*map, key);
    std::string text(map->get(name).value_or(""));
    return {std::move(name), std::move(text)};
}

ConfigMapFile::ConfigMapFile(const ConfigMapText& value) {
    std::string folder = (std::filesystem::temp_directory_path() / "kubectl-sd-XXXXXX").string();
    if (!::mkdtemp(folder.data())) {
        throw std::runtime_error(folder + ": " + std::generic_category().message(errno));
    }
    path_ = std::filesystem::path(folder) / value.key;
    if (std::ofstream(path_) << value.text << std::flush) return;
    const int error = errno;
    remove();
    throw std::runtime_error(path_.string() +
                             ": cannot be written: " + std::generic_category().message(error));
}

ConfigMapFile::~ConfigMapFile() { remove(); }

void ConfigMapFile::remove() const noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(path_.parent_path(), ignored);
}

}  // namespace kubectl_sd
