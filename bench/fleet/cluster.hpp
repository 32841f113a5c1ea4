#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "member.hpp"
#include "plan.hpp"
#include "tally.hpp"

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bench {

/// How the members of a fleet find each other.
enum class Discovery {
    watches,  ///< each watches EndpointSlices itself
    source,   ///< all use one TargetSource of the process, at no cost for the server
};

/// The members' requests to the API server, and the members' cost.
struct Costs {
    std::uint64_t requests = 0;
    std::uint64_t lists = 0;  ///< requests that return all objects
    std::uint64_t bytes = 0;  ///< sent by the server
    double cpu = 0;           ///< seconds, total of all members
    double memory = 0;        ///< bytes, total of all members; start() only
};

/// A StatefulSet whose pods are fleet members, and the cluster around it: its controller, kubelets,
/// the EndpointSlice controller and an API server. Everything runs in virtual time, in steps of a
/// tenth of a second.
class FleetCluster {
 public:
    FleetCluster(const Plan&, const Pace&, std::size_t targets, Discovery,
                 Provider = Provider::slices);
    ~FleetCluster();

    /// Starts the members and waits until each target has its owners. \returns the cost so far
    Costs start();
    /// Runs the plan.
    Outcome run();
    /// The cost of run().
    Costs costs() const;

 private:
    /// A pod, with kubelet's view of it.
    struct Pod {
        unsigned ordinal = 0;
        std::unique_ptr<Member> member{};        // null: no process
        std::optional<TimePoint> starts{};       // start time of the next process
        std::optional<TimePoint> terminating{};  // since deletion was requested
        std::optional<TimePoint> dead{};         // since the process died
        std::optional<TimePoint> lost{};         // since the node was lost
        std::optional<TimePoint> ready_since{};  // since the readiness probe succeeds
        TimePoint next_probe{};
    };

    class Meter;

    void make_targets(std::size_t targets);
    void step();
    void settle();
    void take(const Step&);

    void control();
    void restart_next();
    void manage(Pod&);
    bool ends(const Pod&) const;
    void start_process(Pod&);
    void set_ready(Pod&, bool ready);
    void terminate(Pod&);
    void write_slices();
    std::shared_ptr<Link> link_of(unsigned ordinal);
    bool is_quiet() const;

    static constexpr Duration tick = std::chrono::milliseconds(100);
    static constexpr unsigned slice_size = 100;     // endpoints
    static constexpr std::size_t group_size = 100;  // targets

    const Plan plan_;
    const Pace pace_;
    const Discovery discovery_;
    std::shared_ptr<k8s_sd::sim::ManualClock> clock_;
    k8s_sd::asio::io_context context_;  // runs the server
    k8s_sd::sim::ApiServer server_;
    Tally tally_;
    MemberSetup setup_;
    std::map<unsigned, Pod> pods_;
    std::map<unsigned, std::shared_ptr<Link>> links_;
    unsigned wanted_;
    std::vector<unsigned> to_restart_;  // the next one is at the end
    std::optional<unsigned> restarting_;
    unsigned cut_ = 0;
    bool away_ = false;
    std::set<unsigned> changed_slices_;
    std::map<unsigned, TimePoint> written_;
    std::shared_ptr<Costs> costs_ = std::make_shared<Costs>();  // all but bytes
    // whether to measure memory, which takes time
    bool weighs_ = true;
};

}  // namespace bench
