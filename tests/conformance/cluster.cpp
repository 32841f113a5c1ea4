#include "conformance/cluster.hpp"

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <boost/asio/detached.hpp>
#include <set>
#include <stdexcept>

namespace k8s_sd::test {

namespace {

constexpr const char* token = "conformance-token";

sim::ApiServerOptions server_options(const std::shared_ptr<ManualClock>& clock, bool with_token,
                                     Encoding encoding) {
    sim::ApiServerOptions options;
    options.clock = clock;
    if (with_token) options.token = token;
    options.protobuf = options.metadata_only = encoding != Encoding::json;
    return options;
}

std::string url_of(const std::string& path, const std::string& label_selector,
                   const std::string& field_selector) {
    return path + " label:" + label_selector + " field:" + field_selector;
}

/// The URLs of a job.
std::vector<std::string> urls_of(Role role, const ResolvedConfig& resolved) {
    std::vector<std::string> urls;
    for (const Kind kind : detail::needed_kinds(role, resolved.view.attach_metadata)) {
        std::vector<std::string> namespaces = resolved.scope.namespaces;
        if (namespaces.empty() || !resource_of(kind).namespaced) namespaces = {""};
        Selector selector;
        for (const Selector& other : resolved.scope.selectors) {
            if (main_kind(other.role) == kind) selector = other;
        }
        for (const std::string& ns : namespaces) {
            urls.push_back(url_of(collection_path(kind, ns), selector.label, selector.field));
        }
    }
    return urls;
}

/// The namespace of the pod in which all jobs of a case run, if any.
std::string own_namespace_of(const CorpusCase& c) {
    const std::string& name = c.jobs.front().own_namespace;
    for (const CorpusJob& job : c.jobs) {
        if (job.own_namespace != name) throw std::logic_error(c.name + ": several own namespaces");
    }
    return name;
}

}  // namespace

Cluster::Cluster(const CorpusCase& c, const std::filesystem::path& state, LabelDialect dialect,
                 sim::TransportFaults faults, Encoding encoding)
    : server_(context_.get_executor(),
              server_options(clock_, !own_namespace_of(c).empty(), encoding)) {
    service_account_.write("token", token);
    service_account_.write("ca.crt", "the transport in memory needs no certificates");
    service_account_.write("namespace", own_namespace_of(c));
    install(context_, {.clock = clock_,
                       .connector = server_.connector(faults),
                       .file_calls = std::make_shared<sim::ManualFiles>(),
                       .metrics = metrics_,
                       .logger = {},
                       .seed = 1,
                       .in_cluster = {service_account_.path()}});
    load(state);
    for (const CorpusJob& entry : c.jobs) {
        if (!read_answer(state, entry.name, dialect)) continue;
        auto job = std::make_unique<Job>(Job{entry.name, parse_sd_config(entry.yaml, dialect)});
        job->config.watch.protobuf = encoding != Encoding::json;
        if (encoding != Encoding::streamed) {
            job->config.watch.watch_list = false;
            job->config.watch.share_selectors = SelectorSharing::never;
        }
        if (entry.own_namespace.empty()) job->config.api_server.url = server_.url();
        job->discoverer.emplace(context_.get_executor(), job->config,
                                [&ledger = job->ledger](const auto& diff) { ledger.apply(diff); });
        job->discoverer->async_run(boost::asio::detached);
        jobs_.push_back(std::move(job));
    }
    settle(context_);
}

void Cluster::load(const std::filesystem::path& state) {
    for (const std::string& list : read_lists(state)) server_.load(list);
}

void Cluster::perform(const std::filesystem::path& step, Pace pace) {
    bool expired = false;
    for (const WatchLine& event : read_events(step)) {
        expired = expired || event.version == 0;
        server_.replay(event.resource, event.json);
        // Until all watches have ended, the server must not have the objects of the later list.
        if (!expired && pace == Pace::each_event) settle(context_);
    }
    if (expired) {
        ++expirations_;
        load(step);
        server_.compact();
    }
    settle(context_);
}

std::uint64_t Cluster::fallbacks() const {
    std::uint64_t sum = 0;
    for (const Metrics::PerKind& kind : metrics_->kinds) sum += kind.json_fallbacks;
    return sum;
}

RequestCounts Cluster::requests() const {
    RequestCounts counts;
    for (const sim::RequestRecord& record : server_.requests()) {
        const sim::Request& request = record.request;
        RequestCount& count =
            counts[url_of(request.path, std::string(request.param("labelSelector")),
                          std::string(request.param("fieldSelector")))];
        ++(request.is_watch() ? count.watches : count.lists);
    }
    return counts;
}

RequestCounts Cluster::expected_requests() const {
    // Different credentials may use the same URL.
    std::map<std::string, std::set<ApiServerConfig>> users;
    for (const auto& job : jobs_) {
        const ResolvedConfig resolved = resolve(job->config, {service_account_.path()});
        for (const std::string& url : urls_of(job->config.role, resolved)) {
            users[url].insert(resolved.scope.api_server);
        }
    }
    RequestCounts counts;
    for (const auto& [url, users_of_url] : users) {
        const std::size_t times = users_of_url.size() * (1 + expirations_);
        counts[url] = {times, times};
    }
    return counts;
}

}  // namespace k8s_sd::test
