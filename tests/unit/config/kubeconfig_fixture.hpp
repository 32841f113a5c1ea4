#pragma once

#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "support/config_fixtures.hpp"

#include <array>
#include <string>

namespace k8s_sd::test {

inline constexpr const char* https_server = "server: 'https://h:6443'";

/// A kubeconfig with one context whose cluster (line 7) and user (line 10) have these keys in flow
/// style.
inline std::string one_context(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\npreferences: {}\nextensions: [{name: x}]\n"
           "clusters:\n- name: k\n  cluster: {" +
           cluster +
           "}\n"
           "users:\n- name: u\n  user: {" +
           user +
           "}\n"
           "contexts:\n- name: c\n  context: {cluster: k, user: u, namespace: n}\n"
           "current-context: c\n";
}

/// Reads it as /etc/k8s/kc.
inline ApiServerConfig read_config(const std::string& content, const std::string& context = "") {
    const std::array files{detail::KubeconfigFile{"/etc/k8s/kc", content}};
    return detail::read_kubeconfig(files, context);
}

inline ApiServerConfig read_user_config(const std::string& user) {
    return read_config(one_context(https_server, user));
}

/// The error of a file kc.
inline std::string problem_of(const std::string& content, const std::string& context = "") {
    const std::array files{detail::KubeconfigFile{"kc", content}};
    return config_error([&] { detail::read_kubeconfig(files, context); });
}

inline std::string user_problem(const std::string& user) {
    return problem_of(one_context(https_server, user));
}

inline std::string cluster_problem(const std::string& cluster) {
    return problem_of(one_context(cluster, ""));
}

}  // namespace k8s_sd::test
