#include "tables.hpp"

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#ifdef K8S_SD_C_SCRAPE
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#endif

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <openssl/ssl.h>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

namespace k8s_sd_c {

namespace {

/// Connects to nothing.
class NoConnector final : public k8s_sd::Connector {
 public:
    std::unique_ptr<k8s_sd::ByteStream> make_stream(boost::asio::any_io_executor,
                                                    const k8s_sd::ConnectTarget&) override {
        throw std::runtime_error("no connection is wanted");
    }
};

/// Tables of decoders.
void make_schemas() {
    for (std::size_t kind = 0; kind < k8s_sd::kind_count; ++kind) {
        k8s_sd::detail::schema_of(static_cast<k8s_sd::Kind>(kind));
    }
    k8s_sd::detail::read_json_status("{}");
    k8s_sd::detail::read_protobuf_status("");
}

/// Tables of the watches and groups: a discovery that reaches no server.
void rehearse_discovery(const k8s_sd::DiscoveryConfig& config) {
    boost::asio::io_context io;
    k8s_sd::Environment environment;
    environment.logger.level = k8s_sd::LogLevel::off;
    environment.connector = std::make_shared<NoConnector>();
    k8s_sd::install(io, std::move(environment));
    k8s_sd::Discoverer discoverer(io.get_executor(), config, [](const auto&) {});
    discoverer.async_run(boost::asio::detached);
    io.poll();
}

void make_relabelling_tables() {
#ifdef K8S_SD_C_SCRAPE
    const auto file = k8s_sd::parse_scrape_configs(
        "scrape_configs: [{job_name: a, relabel_configs: [{source_labels: [a], regex: '(b+)c', "
        "target_label: 'd', replacement: '$1'}, {action: drop, source_labels: [a], regex: e}]}]");
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        const k8s_sd::TargetBuilder builder(job.scrape);
    }
#endif
}

}  // namespace

void make_tables() {
    static const bool made = [] {
        OPENSSL_init_ssl(0, nullptr);
        static_cast<void>(k8s_sd::system_file_calls());
        static_cast<void>(k8s_sd::system_program_runner());
        static_cast<void>(k8s_sd::system_resolver());
        make_schemas();
        rehearse_discovery(k8s_sd::parse_sd_config("{role: pod, api_server: 'http://127.0.0.1:9'}",
                                                   k8s_sd::LabelDialect::prometheus));
        make_relabelling_tables();
        return true;
    }();
    static_cast<void>(made);
}

}  // namespace k8s_sd_c
