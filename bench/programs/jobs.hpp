#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// A job of a configuration: the pods of the server at this port, with eight labels, one of them
/// changing with each revision of the pod.
/// \param rules  further ones, before these
std::string job_of_pods(const std::string& name, unsigned short port,
                        const std::string& rules = "");
/// The same for every nth part of the pods.
std::string job_of_a_part(std::size_t part, std::size_t parts, unsigned short port);
/// A configuration with these jobs.
std::string config_of(const std::string& jobs);

/// "/sd/JOB/targets?shard=0&shards=100"
std::string shard_of(const std::string& job, std::size_t shard, std::size_t shards);

}  // namespace bench
