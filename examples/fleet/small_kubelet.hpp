#pragma once

#include "agent_process.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fleet {

/// The tasks of a kubelet and of the EndpointSlice controller for the pods of one Service: runs
/// them as processes, probes their readiness, and writes the slice. For one thread.
class SmallKubelet {
 public:
    /// Called with each line of a process's output.
    using OnLine = std::function<void(const std::string& pod, const std::string& line)>;

    /// \param scraper  the program, and the options common to all pods
    SmallKubelet(boost::asio::any_io_executor, k8s_sd::sim::ApiServer&,
                 std::vector<std::string> scraper, OnLine);
    ~SmallKubelet();
    SmallKubelet(const SmallKubelet&) = delete;
    SmallKubelet& operator=(const SmallKubelet&) = delete;

    void start() { probe_later(); }
    void stop();
    /// Starts a pod.
    void add(const std::string& pod);
    /// Deletes a pod as `kubectl delete` does: it is terminating, gets SIGTERM, and is removed when
    /// its process has ended.
    void remove(const std::string& pod);
    /// Kills the process of a pod, without a restart.
    void kill(const std::string& pod);
    /// Whether there are this many pods, all of them ready.
    bool are_ready(std::size_t pods) const;

 private:
    struct Pod;
    class Probe;

    void probe_later();
    void manage_pods();
    void set_ready(const std::string& pod, bool ready);
    void write_slice();

    const boost::asio::any_io_executor executor_;
    k8s_sd::sim::ApiServer& server_;
    const std::vector<std::string> scraper_;
    const OnLine on_line_;
    boost::asio::steady_timer timer_;
    std::map<std::string, std::unique_ptr<Pod>> pods_;
    std::string written_;  // last written slice
    bool stopped_ = false;
};

}  // namespace fleet
