#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The shop's model of its cluster; shop_objects turns it into Kubernetes objects.
namespace k8s_sd::inline v0::sim::shop {

using StringMap = std::map<std::string, std::string>;

struct Node {
    std::string name;
    std::string ip;
    std::string zone;
    std::string pod_subnet;  ///< "10.244.1."
    StringMap labels;
};

struct Port {
    std::string name;
    int number = 0;
    std::string protocol = "TCP";
};

struct Pod {
    std::string name;
    std::string uid;
    std::string created;
    std::string ip;  ///< empty until it runs
    const Node* node = nullptr;
    std::string owner_kind, owner_name, owner_uid;
    StringMap labels;
    StringMap annotations;
    std::string image;
    std::string phase = "Pending";
    std::string waiting_reason;  ///< "CrashLoopBackOff"
    int restarts = 0;
    bool ready = false;
    std::string deleted;  ///< deletionTimestamp; empty: not terminating

    bool terminating() const { return !deleted.empty(); }
};

/// A Deployment, StatefulSet or DaemonSet with its pods and its service.
struct Workload {
    std::string kind;
    std::string ns;
    std::string name;
    std::string uid;
    std::string created;
    int replicas = 1;
    int version = 1;  ///< of the image: "v1"
    std::vector<Port> ports;
    std::string scrape_port;  ///< for prometheus.io/port; empty: not annotated
    std::string service_type = "ClusterIP";
    std::string cluster_ip;  ///< "None": headless
    bool host_network = false;

    /// ReplicaSets of a Deployment by name; the latest version last.
    struct ReplicaSet {
        std::string name, hash, uid, created;
        int version = 1;
    };
    std::vector<ReplicaSet> replica_sets;
    std::vector<Pod> pods;

    std::string full_name() const { return ns + "/" + name; }
};

}  // namespace k8s_sd::inline v0::sim::shop
