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

/// How the members of a fleet find their targets.
enum class Discovery {
    watches,  ///< each by watches of its own, of EndpointSlices
    source,   ///< all from one TargetSource of the process, at no cost for the server
};

/// What members ask of the API server, and what they cost.
struct Costs {
    std::uint64_t requests = 0;
    std::uint64_t lists = 0;  ///< those of them that bring all objects
    std::uint64_t bytes = 0;  ///< that the server sends
    double cpu = 0;           ///< seconds, of all members
    double memory = 0;        ///< bytes, of all members; of start() only
};

/// A StatefulSet whose pods are members of a fleet, and the cluster around it: its controller,
/// kubelets, the controller of EndpointSlices and an API server. All of it in virtual time, which
/// passes in steps of a tenth of a second.
class FleetCluster {
 public:
    FleetCluster(const Plan&, const Pace&, std::size_t targets, Discovery,
                 Provider = Provider::slices);
    ~FleetCluster();

    /// Starts the members and waits until each target has its owners. \returns what that costs
    Costs start();
    /// What happens by the plan.
    Outcome run();
    /// What run() has cost.
    Costs costs() const;

 private:
    /// A pod, with kubelet's view of it.
    struct Pod {
        unsigned ordinal = 0;
        std::unique_ptr<Member> member{};        // none: there is no process
        std::optional<TimePoint> starts{};       // when there will be one
        std::optional<TimePoint> terminating{};  // since when it is terminating
        std::optional<TimePoint> dead{};         // since when its process is
        std::optional<TimePoint> lost{};         // since when its node is
        std::optional<TimePoint> ready_since{};  // what the probes say
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
    k8s_sd::asio::io_context context_;  // of the server
    k8s_sd::sim::ApiServer server_;
    Tally tally_;
    MemberSetup setup_;
    std::map<unsigned, Pod> pods_;
    std::map<unsigned, std::shared_ptr<Link>> links_;
    unsigned wanted_;
    std::vector<unsigned> to_restart_;  // the next one at the end
    std::optional<unsigned> restarting_;
    unsigned cut_ = 0;
    bool away_ = false;
    std::set<unsigned> changed_slices_;
    std::map<unsigned, TimePoint> written_;
    std::shared_ptr<Costs> costs_ = std::make_shared<Costs>();  // all but bytes
    bool weighs_ = true;                                        // memory, which takes time
};

}  // namespace bench
