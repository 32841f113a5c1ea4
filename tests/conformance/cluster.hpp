#pragma once

#include "conformance/corpus.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/config_fixtures.hpp"
#include "support/group_ledger.hpp"
#include "support/manual_clock.hpp"

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// LIST and WATCH requests of each URL (path and selectors).
struct RequestCount {
    std::size_t lists = 0;
    std::size_t watches = 0;
    friend bool operator==(const RequestCount&, const RequestCount&) = default;
};
using RequestCounts = std::map<std::string, RequestCount>;

/// Whether clients see the effect of each event of a step or all events at once.
enum class Pace { each_event, whole_step };

/// How the server encodes objects.
enum class Encoding {
    protobuf,  ///< requests only metadata of objects that are not needed in full
    json,      ///< requests all objects in full
    /// As protobuf, with streamed lists: jobs with different selectors and namespaces share
    /// watches.
    streamed,
};

/// The recorded cluster of a case, served by the simulated API server, and a discoverer per job,
/// all on one context that the test polls.
class Cluster {
 public:
    struct Job {
        std::string name;
        DiscoveryConfig config;
        DiscoveryLedger ledger{GroupLedger::Known::same};
        std::optional<Discoverer> discoverer{};
    };

    /// Serves `state` and runs until discovery is complete. Omits jobs without an answer in this
    /// dialect.
    Cluster(const CorpusCase&, const std::filesystem::path& state, LabelDialect,
            sim::TransportFaults = {}, Encoding = Encoding::protobuf);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Sends the events of a step to the watches. If the version had expired in the recording, the
    /// server gets the objects of the step's lists instead.
    void perform(const std::filesystem::path& step, Pace);

    const std::vector<std::unique_ptr<Job>>& jobs() const noexcept { return jobs_; }
    /// The number of fallbacks from the preferred request form.
    std::uint64_t fallbacks() const;
    /// The clients' requests so far.
    RequestCounts requests() const;
    /// The expected requests, unless lists are streamed: one LIST and one WATCH per URL, and both
    /// again after an expired version.
    RequestCounts expected_requests() const;

 private:
    void load(const std::filesystem::path& state);

    boost::asio::io_context context_;
    std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
    sim::ApiServer server_;
    TemporaryDirectory service_account_;
    ScopedVariable host_{"KUBERNETES_SERVICE_HOST", "10.0.0.1"};
    ScopedVariable port_{"KUBERNETES_SERVICE_PORT", "443"};
    std::vector<std::unique_ptr<Job>> jobs_;
    std::size_t expirations_ = 0;
};

}  // namespace k8s_sd::test
