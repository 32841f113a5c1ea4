#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

struct WatcherConfig;

/// Placeholder in AccessRule::ns for the namespace of the program's own pod, unknown before it
/// runs. No namespace can have this name.
inline constexpr std::string_view own_namespace_of_pod = "(own)";

/// The right to read the objects of one resource, as in the server's authorization (RBAC).
struct AccessRule {
    /// The verbs needed for every resource: LIST for the state, WATCH for changes.
    static constexpr std::array<std::string_view, 2> verbs{"list", "watch"};

    std::string api_group{};  ///< "" is the core group
    std::string resource{};   ///< the plural name, "pods"
    bool namespaced = true;   ///< whether the objects are in namespaces
    std::string ns{};         ///< empty: all namespaces (or none, see `namespaced`)
    /// Whether another rule can replace this one, see WatchOptions::cluster_wide_from.
    bool optional = false;
    auto operator<=>(const AccessRule&) const = default;
};

/// The right to list and watch a kind.
/// \param ns  empty: all namespaces. Ignored for kinds without namespaces
K8S_SD_EXPORT AccessRule access_to(Kind kind, std::string_view ns = {});

/// The rule as in a Role or ClusterRole:
/// `{apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list", "watch"]}`.
K8S_SD_EXPORT std::string rule_text(const AccessRule&);

/// "pods in the namespace shop", "endpointslices (API group discovery.k8s.io) in all namespaces",
/// "nodes".
K8S_SD_EXPORT std::string to_string(const AccessRule&);

/// The access rules a configuration needs, sorted. Reads no file and sends no request. The own
/// namespace is `own_namespace_of_pod`. From WatchOptions::cluster_wide_from namespaces on there
/// are optional rules too: each allows one watch of all namespaces in place of one in each.
/// Thread-safe.
/// \throws ConfigError as validate()
K8S_SD_EXPORT std::vector<AccessRule> required_access(const DiscoveryConfig&);

/// The access a Watcher of the kind needs, as above: list and watch of this kind, nothing else.
/// \throws ConfigError for an unusable configuration
K8S_SD_EXPORT std::vector<AccessRule> required_access(Kind, const WatcherConfig&);

/// The access a Watcher<Generic> needs. The configuration must have `resource.plural`, and
/// `resource.namespaced` for cluster-scoped objects. Without the other members the watcher also
/// reads the discovery documents of the API, allowed by the ClusterRole system:discovery.
/// \throws ConfigError as above
K8S_SD_EXPORT std::vector<AccessRule> required_access(const WatcherConfig&);

/// The subject of the rights in rbac_manifest(), and the names of roles.
struct RbacOptions {
    /// Name of the roles and their bindings. Empty: "k8s-sd:NAMESPACE:ACCOUNT", chosen to replace
    /// no foreign role when applied. A name may have colons, like the default one.
    std::string name{};
    std::string service_account = "k8s-sd";             ///< subject of the rights
    std::string service_account_namespace = "default";  ///< namespace of the program's pod
    bool with_service_account = true;                   ///< includes the account in the manifest
};

/// The rules as YAML for `kubectl apply -f -`: a ClusterRole with its binding for access to all
/// namespaces, and a Role with its binding in each namespace for the rest. Optional rules are
/// written as comments. Thread-safe.
/// \throws ConfigError for an invalid name or namespace
K8S_SD_EXPORT std::string rbac_manifest(const std::vector<AccessRule>&, const RbacOptions& = {});

/// One step tried by async_check_access().
struct AccessCheckLine {
    /// The outcome of the step.
    enum class Result : std::uint8_t {
        ok,       ///< success
        failed,   ///< discovery cannot work
        skipped,  ///< not tried, or not needed; the text gives the reason
    };
    std::string step{};          ///< "name lookup", "list pods in all namespaces"
    Result result = Result::ok;  ///< see above
    std::string text{};          ///< the finding, or the problem and its remedy; one line
    error_code ec{};             ///< error of a failed step
    Duration took{};             ///< duration of the step
};

/// "ok", "FAILED" or "skipped".
constexpr std::string_view to_string(AccessCheckLine::Result result) noexcept {
    using enum AccessCheckLine::Result;
    return result == ok ? "ok" : result == failed ? "FAILED" : "skipped";
}

/// Receives each step as it completes, on the executor of the check, one call at a time.
using AccessCheckHandler = std::function<void(const AccessCheckLine&)>;

namespace detail {

class AccessCheck;

/// Initiates a check. A class with a constructor, because g++ 12 miscompiles temporary closures and
/// aggregates in an expression with co_await.
class K8S_SD_EXPORT CheckInitiation {
 public:
    using executor_type = asio::any_io_executor;
    using Handler = asio::any_completion_handler<void(error_code, bool)>;

    CheckInitiation(asio::any_io_executor, const DiscoveryConfig&, Duration step_timeout,
                    AccessCheckHandler);
    executor_type get_executor() const noexcept { return executor_; }
    template <class CompletionHandler>
    void operator()(CompletionHandler&& handler) const {
        run(Handler(std::forward<CompletionHandler>(handler)));
    }

 private:
    void run(Handler) const;

    executor_type executor_;
    std::shared_ptr<AccessCheck> check_;
};

}  // namespace detail

/// Tries every step of a Discoverer with this configuration, in the same order: the configuration,
/// the lookup of the server's name, TCP, the credentials, TLS, authentication, then for each rule
/// of required_access() a LIST of one object and a WATCH, ended as soon as it has begun. The
/// requests are those of a Discoverer: same environment, credentials and certificates. Blocks on
/// files of the configuration, as resolve() does. Changes nothing on the server.
///
/// The check ends early after a failed step required by all later ones.
/// \param step_timeout  limit of each step
/// \param on_line  receives each step; not empty
/// \par Handler signature  `void(error_code, bool all_fine)`
/// \par Completion         no error, or asio::error::operation_aborted once cancelled
/// \par Executor           the handler's associated one, else `executor`; as if by post
/// \par Per-operation cancellation  terminal and partial; `on_line` may be called once more
/// \throws ConfigError for an empty executor or function. A mistake in the configuration is
///         reported as the first step.
template <class CompletionToken = asio::deferred_t>
auto async_check_access(asio::any_io_executor executor, const DiscoveryConfig& config,
                        AccessCheckHandler on_line,
                        Duration step_timeout = std::chrono::seconds(10),
                        CompletionToken&& token = CompletionToken{}) {
    return asio::async_initiate<CompletionToken, void(error_code, bool)>(
        detail::CheckInitiation(std::move(executor), config, step_timeout, std::move(on_line)),
        token);
}

}  // namespace k8s_sd::inline v0
