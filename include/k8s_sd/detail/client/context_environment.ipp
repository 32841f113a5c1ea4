#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/urls.hpp"

#include <boost/asio/query.hpp>
#include <random>
#include <utility>

namespace k8s_sd::inline v0 {

namespace detail {

Environment with_defaults(Environment environment) {
    if (!environment.clock) environment.clock = system_clock();
    if (!environment.resolver) environment.resolver = system_resolver();
    if (!environment.file_calls) environment.file_calls = system_file_calls();
    if (!environment.programs) environment.programs = system_program_runner();
    if (!environment.connector) environment.connector = system_connector(environment);
    if (!environment.metrics) environment.metrics = std::make_shared<Metrics>();
    if (environment.seed == 0) environment.seed = std::random_device{}();
    return environment;
}

/// Replaces Asio's text, because hosts do not know its services.
class InstalledTooLate final : public asio::service_already_exists {
 public:
    const char* what() const noexcept override {
        return "this execution context has an environment already: call k8s_sd::install() once, "
               "before the first Discoverer or metrics_of()";
    }
};

asio::execution_context::id ContextEnvironment::id;

ContextEnvironment::ContextEnvironment(asio::execution_context& context, Environment environment)
    : asio::execution_context::service(context),
      environment_(with_defaults(std::move(environment))) {}

ContextEnvironment& ContextEnvironment::of(const asio::any_io_executor& executor) {
    return asio::use_service<ContextEnvironment>(asio::query(executor, asio::execution::context));
}

Environment ContextEnvironment::with_new_seed() {
    const std::lock_guard lock(mutex_);
    ++environment_.seed;
    return environment_;
}

std::shared_ptr<ServerTraffic> ContextEnvironment::traffic_of(const ApiServerConfig& server) {
    const ServerUrl url = parse_server_url(server.url, server.tls != TlsConfig{});
    const std::lock_guard lock(mutex_);
    std::erase_if(traffic_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = traffic_[to_string(url)];
    auto traffic = known.lock();
    if (!traffic) {
        traffic = std::make_shared<ServerTraffic>(environment_.limits, environment_.metrics,
                                                  environment_.clock);
        known = traffic;
    }
    return traffic;
}

std::vector<ServerUsage> ContextEnvironment::usage() const {
    std::vector<std::pair<std::string, std::shared_ptr<ServerTraffic>>> alive;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [url, weak] : traffic_) {
            if (auto traffic = weak.lock()) alive.emplace_back(url, std::move(traffic));
        }
    }
    std::vector<ServerUsage> all;
    for (const auto& [url, traffic] : alive) {
        ServerUsage& usage = all.emplace_back(traffic->usage());
        usage.server = url;
    }
    return all;
}

void ContextEnvironment::shutdown() {
    const std::lock_guard lock(mutex_);
    environment_ = {};
}

}  // namespace detail

void install(asio::execution_context& context, Environment environment) {
    try {
        asio::make_service<detail::ContextEnvironment>(context, std::move(environment));
    } catch (const asio::service_already_exists&) {
        throw detail::InstalledTooLate();
    }
}

std::shared_ptr<Metrics> metrics_of(asio::execution_context& context) {
    return asio::use_service<detail::ContextEnvironment>(context).metrics();
}

std::vector<ServerUsage> server_usage(asio::execution_context& context) {
    return asio::use_service<detail::ContextEnvironment>(context).usage();
}

}  // namespace k8s_sd::inline v0
