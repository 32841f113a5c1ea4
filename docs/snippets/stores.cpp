// Snippets of docs/guide/stores.md.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "k8s_sd/objects/target_store.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace snippets::stores {

struct Machine {
    struct {
        std::string_view namespace_, name;
    } metadata;
    std::string_view rack;
    std::vector<std::string> addresses;
};
using MachinePtr = std::shared_ptr<const Machine>;

void use(const k8s_sd::TargetGroupPtr& pod, const k8s_sd::TargetGroupPtr& peer);
void use(const MachinePtr& machine, const MachinePtr& gateway);

[[maybe_unused]] static void read_targets(boost::asio::io_context& io,
                                          const k8s_sd::DiscoveryConfig& config) {
    //[targets
    k8s_sd::TargetStore store;
    const auto by_address = store.index([](const k8s_sd::TargetGroup& group, auto& keys) {
        for (std::size_t i = 0; i < group.size(); ++i)
            keys.add(group[i].get("__address__").value_or(""));
    });
    k8s_sd::Discoverer discoverer(io.get_executor(), config, store.callback());
    discoverer.async_run(boost::asio::detached);

    std::jthread reader([store, by_address] {  // handles: copies refer to the same store
        const k8s_sd::TargetGroupPtr pod = store.find("pod/shop/web-0");
        const k8s_sd::TargetGroupPtr peer = by_address.find("10.0.0.1:8080");
        use(pod, peer);  // null: there is none
    });
    //]
}

[[maybe_unused]] static void read_machines(k8s_sd::Store<Machine> store) {
    //[indexes
    const auto by_rack = store.index([](const Machine& machine) { return machine.rack; });
    const auto by_address = store.index([](const Machine& machine, k8s_sd::IndexKeys& keys) {
        for (const std::string& address : machine.addresses) keys.add(address);
    });
    //]
    by_address.find("10.0.0.1");

    //[snapshot
    const k8s_sd::Snapshot<Machine> snapshot = store.snapshot();  // constant time
    const MachinePtr& gateway = snapshot.find("office", "gateway");
    for (const MachinePtr& machine : by_rack.all(snapshot, "a1")) use(machine, gateway);
    //]
}

[[maybe_unused]] static void write_machines(const MachinePtr& gateway) {
    //[writing
    k8s_sd::Store<Machine> store;
    k8s_sd::StoreWriter<Machine> writer(store);
    auto batch = writer.begin();
    batch.put(gateway);  // adds it, or replaces its namesake
    batch.remove({"office", "printer"});
    batch.publish();  // readers see both changes at once
    //]
}

}  // namespace snippets::stores
