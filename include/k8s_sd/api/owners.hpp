#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

namespace k8s_sd::inline v0::api {

/// apps/v1 ReplicaSet: only its metadata, with the Deployment as owner.
struct ReplicaSet {
    ObjectMeta metadata;
    bool operator==(const ReplicaSet&) const = default;
};

/// batch/v1 Job: only its metadata, with the CronJob as owner.
struct Job {
    ObjectMeta metadata;
    bool operator==(const Job&) const = default;
};

template <>
inline constexpr Kind kind_of<ReplicaSet> = Kind::replicaset;
template <>
inline constexpr Kind kind_of<Job> = Kind::job;

}  // namespace k8s_sd::inline v0::api
