#pragma once

#include "k8s_sd/sim/shop.hpp"
#include "sim/shop/shop_model.hpp"
#include "sim/shop/shop_objects.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

using shop::Node;
using shop::Pod;
using shop::Workload;

/// The shop's controllers: each change is made in the model first; then the affected objects are
/// applied in the order of real controllers.
class Shop::Impl {
 public:
    Impl(ApiServer& server, ShopOptions options)
        : server_(server), options_(std::move(options)), random_(options_.seed) {
        create();
    }

    std::string step();

 private:
    using Action = std::function<std::string()>;

    // ---- Setting up ------------------------------------------------------------------------
    void create();
    Workload& add(std::string kind, std::string ns, std::string name, int replicas,
                  std::vector<shop::Port> ports, std::string scrape_port);
    void add_workloads();
    void publish_all(Workload&);
    void add_ingresses();
    void add_gateway();
    void add_monitors_of_shop();

    // ---- Changes -----------------------------------------------------------------------------
    std::string begin_change();
    std::string scale();
    std::string roll_out();
    std::string lose_readiness();
    std::string crash();
    std::string relabel_pod();
    std::string toggle_scraping();
    std::string relabel_node();
    std::string run_job();

    std::string create_pod(Workload&, std::string name);
    void then_start(Workload&, const std::string& uid);
    void then_end(Workload&, const std::string& uid);
    void then_replace(Workload&, const std::string& uid);

    // ---- Publishing -----------------------------------------------------------------------
    void publish_pod(const Workload& w, const Pod& pod) { server_.apply(pod_object(w, pod)); }
    /// Publishes the objects controllers derive from the pods of a workload.
    void publish_derived(const Workload&);

    // ---- Helpers -----------------------------------------------------------------------------
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
    Workload& pick_deployment();
    Pod* pick_ready_pod(Workload& w);
    Workload& pick_workload() { return workloads_[pick(workloads_.size())]; }
    static Pod* find(Workload&, const std::string& uid);
    std::string suffix(std::size_t length);
    std::string make_uid();
    std::string now() const;
    std::string free_ip(const Node&);
    void add_replica_set(Workload&);
    static std::string named(const Workload&);              ///< "deployment shop/cart"
    static std::string named(const Workload&, const Pod&);  ///< "pod shop/cart-x"

    ApiServer& server_;
    ShopOptions options_;
    std::mt19937_64 random_;
    std::vector<Node> nodes_;  // pods point into it: never changed after creation
    std::deque<Workload> workloads_;
    Workload report_;  ///< the pods of the CronJob's runs
    std::string cron_job_uid_;
    int runs_ = 0;
    std::size_t next_node_ = 0;
    int next_host_ = 10;
    std::deque<Action> pending_;
};

}  // namespace k8s_sd::inline v0::sim
