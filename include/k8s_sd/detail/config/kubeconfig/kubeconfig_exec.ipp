#include "k8s_sd/detail/config/kubeconfig/kubeconfig_exec.hpp"
#include "k8s_sd/detail/config/yaml/yaml_json.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// A text for the arguments or the environment of a program.
std::string c_text(const YamlValue& value) {
    std::string text = value.string();
    if (text.find('\0') != std::string::npos) value.fail("must not contain a NUL character");
    return text;
}

std::string read_version(const YamlValue& value) {
    std::string version = value.string();
    if (version == "client.authentication.k8s.io/v1") return version;
    if (version == "client.authentication.k8s.io/v1beta1") return version;
    if (version == "client.authentication.k8s.io/v1alpha1") {
        value.fail(
            "v1alpha1 is not spoken any more, nor is it by kubectl since 1.24; update the program "
            "and let it write this file anew, with client.authentication.k8s.io/v1 or v1beta1");
    }
    value.fail(value.is_empty() ? "is missing; allowed are client.authentication.k8s.io/v1 and "
                                  "client.authentication.k8s.io/v1beta1"
                                : "must be client.authentication.k8s.io/v1 or "
                                  "client.authentication.k8s.io/v1beta1");
}

std::string read_command(const KubeconfigEntry& user, const YamlValue& exec) {
    const YamlValue value = exec["command"];
    const std::string command = c_text(value);
    if (command.empty()) value.fail("is missing; it names the program that prints credentials");
    const bool in_path = command.find('/') == std::string::npos;
    return in_path ? command : (user.directory / command).string();
}

ExecConfig::Variable read_variable(const YamlValue& item) {
    ExecConfig::Variable variable{c_text(item["name"]), c_text(item["value"])};
    if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
        item["name"].fail("must be the name of an environment variable");
    }
    return variable;
}

ExecConfig::InteractiveMode read_interactive_mode(const YamlValue& value,
                                                  const std::string& version) {
    using enum ExecConfig::InteractiveMode;
    const std::string mode = value.string();
    if (mode == "Never") return never;
    if (mode == "IfAvailable") return if_available;
    if (mode == "Always") {
        value.fail("Always: the program wants to ask somebody at a terminal, and here is none; if "
                   "it can do without, set IfAvailable, else use other credentials, such as a "
                   "token of a service account (kubectl create token NAME)");
    }
    if (!mode.empty()) value.fail("must be Never, IfAvailable or Always");
    if (!version.ends_with("/v1beta1")) {
        value.fail("is missing, and " + version + " requires it; set IfAvailable or Never");
    }
    return if_available;
}

std::string find_extension(const YamlValue& cluster) {
    for (const YamlValue& item : cluster["extensions"].items()) {
        if (item["name"].string() == "client.authentication.k8s.io/exec") {
            return to_json(item["extension"]);
        }
    }
    return {};
}

}  // namespace

ExecConfig read_exec(const KubeconfigEntry& user, const YamlValue& cluster) {
    const YamlValue exec = user.body["exec"];
    ExecConfig result;
    result.api_version = read_version(exec["apiVersion"]);
    result.command = read_command(user, exec);
    for (const YamlValue& item : exec["args"].items()) result.args.push_back(c_text(item));
    for (const YamlValue& item : exec["env"].items()) result.env.push_back(read_variable(item));
    result.install_hint = exec["installHint"].string();
    result.interactive_mode = read_interactive_mode(exec["interactiveMode"], result.api_version);
    result.provide_cluster_info = exec["provideClusterInfo"].boolean();
    if (!result.provide_cluster_info) return result;
    result.cluster_server = cluster["server"].string();
    result.cluster_extension = find_extension(cluster);
    return result;
}

}  // namespace k8s_sd::inline v0::detail
