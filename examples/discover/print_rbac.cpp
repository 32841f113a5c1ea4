#include "print_rbac.hpp"

#include "k8s_sd/required_access.hpp"
#include "support/command_line.hpp"

#include <sstream>

namespace discover {

namespace {

k8s_sd::RbacOptions options_of(const std::string& account) {
    const std::size_t slash = account.find('/');
    if (slash == std::string::npos) {
        throw support::UsageError("--service-account: \"" + account +
                                  "\" is not allowed; allowed is NAMESPACE/NAME");
    }
    k8s_sd::RbacOptions options;
    options.service_account_namespace = account.substr(0, slash);
    options.service_account = account.substr(slash + 1);
    options.name = options.service_account;
    return options;
}

}  // namespace

void print_rbac(const k8s_sd::DiscoveryConfig& config, const std::string& account,
                LineWriter& out) {
    std::istringstream lines(rbac_manifest(required_access(config), options_of(account)));
    out << "# What role " << to_string(config.role) << " needs. Made by: discover --print-rbac";
    out.end_line();
    for (std::string line; std::getline(lines, line);) {
        out << line;
        out.end_line();
    }
}

}  // namespace discover
