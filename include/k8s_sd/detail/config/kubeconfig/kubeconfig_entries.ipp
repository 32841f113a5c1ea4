#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/yaml/text_encoding.hpp"
#include "k8s_sd/detail/text/printable.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

KubeconfigEntries read_entries(const YamlValue& root, std::string_view list, std::string_view body,
                               const std::filesystem::path& directory) {
    KubeconfigEntries result;
    for (const YamlValue& item : root[list].items()) {
        if (item.is_null()) continue;  // kubectl reads it as an entry without a name
        const std::string name = item["name"].string();
        if (name.empty()) item.fail("has no name");
        if (!result.emplace(name, KubeconfigEntry{item[body], directory}).second) {
            item["name"].fail("there is an entry of this name already");
        }
    }
    return result;
}

/// The file may be another Kubernetes file by mistake.
void check_kind(const YamlValue& root) {
    if (!root["kind"].is_empty() && root["kind"].string() != "Config") {
        root["kind"].fail("is not that of a kubeconfig, which is Config");
    }
    if (!root["apiVersion"].is_empty() && root["apiVersion"].string() != "v1") {
        root["apiVersion"].fail("is not that of a kubeconfig, which is v1");
    }
}

}  // namespace

std::string KubeconfigEntry::path(std::string_view key) const {
    const std::string value = body[key].string();
    if (value.find('\0') != std::string::npos) body[key].fail("must not contain a NUL character");
    return value.empty() ? value : (directory / value).string();
}

void MergedKubeconfig::merge(const KubeconfigFile& file) {
    const YamlValue root = YamlValue::parse(text_of_file(file.content), file.path);
    const auto directory = std::filesystem::path(file.path).parent_path();
    check_kind(root);
    // std::map::merge() keeps existing entries.
    clusters.merge(read_entries(root, "clusters", "cluster", directory));
    users.merge(read_entries(root, "users", "user", directory));
    contexts.merge(read_entries(root, "contexts", "context", directory));
    if (current_context.empty()) current_context = root["current-context"].string();
}

const KubeconfigEntry& find_entry(const KubeconfigEntries& entries, const YamlValue& reference) {
    if (reference.is_empty()) reference.fail("is missing; " + list_names(entries));
    const auto found = entries.find(reference.string());
    if (found == entries.end()) reference.fail("there is no such entry; " + list_names(entries));
    return found->second;
}

std::string list_names(const KubeconfigEntries& entries) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries) names.push_back(printable(name));
    return "the kubeconfig has " + (names.empty() ? "none" : join(names));
}

}  // namespace k8s_sd::inline v0::detail
