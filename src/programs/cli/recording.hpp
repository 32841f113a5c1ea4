#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/recording.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cli {

/// Values of the options for a recording.
struct RecordOptions {
    std::string file;           ///< receives the recording; empty: none
    bool anonymise = false;     ///< replace names
    unsigned former_files = 0;  ///< to keep
    unsigned max_mib = 256;     ///< of a file
};

std::vector<Option> record_options(RecordOptions&);

/// Records what the connections of the environment receive, if the options say so.
/// \param log  receives a line when a file is full, on any thread \throws Unusable
void record(const RecordOptions&, k8s_sd::Environment&,
            const std::function<void(const std::string& line)>& log);

/// Requests compressed lists, unless the configuration chooses: the recording has the bytes as they
/// came, so that their compression costs nothing here.
void prepare_to_record(const RecordOptions&, k8s_sd::DiscoveryConfig&);
/// Requests what such a run requested, regardless of the configuration.
void prepare_to_replay(const k8s_sd::sim::Recording&, k8s_sd::DiscoveryConfig&);

/// \throws Unusable
k8s_sd::sim::Recording usable_recording(const std::string& file);

}  // namespace cli
