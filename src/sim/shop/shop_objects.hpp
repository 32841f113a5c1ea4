#pragma once

#include "sim/shop/shop_model.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd::inline v0::sim::shop {

namespace json = boost::json;

json::object node_object(const Node&, const std::string& created);
json::object namespace_object(const std::string& name, const std::string& created);
json::object pod_object(const Workload&, const Pod&);
json::object workload_object(const Workload&);
json::object replica_set_object(const Workload&, const Workload::ReplicaSet&);
json::object service_object(const Workload&);
json::object endpoints_object(const Workload&);
json::object endpoint_slice_object(const Workload&);

struct IngressPath {
    std::string path;
    std::string service;
    std::string port;
};
json::object ingress_object(const std::string& ns, const std::string& name, const std::string& host,
                            const std::vector<IngressPath>&, const std::string& created);

/// The nightly report: a CronJob and one run of it.
json::object cron_job_object(const std::string& uid, const std::string& created);
json::object job_object(const std::string& name, const std::string& uid,
                        const std::string& cron_job_uid, const std::string& created, bool done);

}  // namespace k8s_sd::inline v0::sim::shop
