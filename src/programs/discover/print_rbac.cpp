#include "print_rbac.hpp"

#include "cli/command_line.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/access.hpp"
#include "k8s_sd/monitors/monitor_access.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace discover {

namespace {

k8s_sd::RbacOptions options_of(const std::string& account) {
    const std::size_t slash = account.find('/');
    if (slash == std::string::npos) {
        throw cli::UsageError("--service-account: \"" + account +
                              "\" is not allowed; allowed is NAMESPACE/NAME");
    }
    k8s_sd::RbacOptions options;
    options.service_account_namespace = account.substr(0, slash);
    options.service_account = account.substr(slash + 1);
    return options;
}

std::vector<k8s_sd::AccessRule> rules_of(const Options& options) {
    if (options.profiles_wanted)
        return required_access(cli::inventory_of(options.config, options.profiles));
    auto rules = required_access(options.config);
    if (options.monitors) {
        for (const k8s_sd::AccessRule& rule : k8s_sd::monitor_access(options.config.dialect)) {
            rules.push_back(rule);
        }
    }
    return rules;
}

std::string manifest_of(const Options& options) {
    const std::vector<k8s_sd::AccessRule> rules = rules_of(options);
    const std::string& account = options.service_account;
    try {
        return rbac_manifest(rules, options_of(account.empty() ? "default/k8s-sd" : account));
    } catch (const k8s_sd::ConfigError& e) {
        throw cli::UsageError("--service-account: " + e.problem());
    }
}

/// With impersonation, another user needs the rights of the manifest.
void print_impersonation(const k8s_sd::ImpersonationConfig& who, LineWriter& out) {
    if (who.user.empty()) return;
    out << "# The configuration acts as " << cli::printable(who.user, 300)
        << ": that user needs what stands below, and the account";
    out.end_line();
    out << "# the verb impersonate on users, and on groups, uids and userextras if it names any.";
    out.end_line();
}

}  // namespace

void print_rbac(const Options& options, LineWriter& out) {
    const k8s_sd::DiscoveryConfig& config = options.config;
    std::istringstream lines(manifest_of(options));
    if (options.profiles_wanted) {
        out << "# What k8s-sd --cluster-profiles needs on the hub. Made by: discover --print-rbac "
               "--cluster-profiles";
    } else {
        out << "# What role " << to_string(config.role)
            << (options.monitors ? " and monitors need." : " needs.")
            << " Made by: discover --print-rbac" << (options.monitors ? " --monitors" : "");
    }
    out.end_line();
    out << "# It takes the place of what was applied for the same account before.";
    out.end_line();
    print_impersonation(config.kubeconfig_file.empty()
                            ? config.api_server.impersonate
                            : resolve(config).scope.api_server.impersonate,
                        out);
    for (std::string line; std::getline(lines, line);) {
        out << line;
        out.end_line();
    }
}

}  // namespace discover
