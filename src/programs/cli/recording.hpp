#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/recording.hpp"

#include <functional>
#include <memory>
#include <string>

namespace support {

/// The system's connector for this environment, with a recording in this file.
/// \param environment  with its clock
/// \param on_end  called if the recording ends early \throws Unusable
std::shared_ptr<k8s_sd::Connector> recording_connector(
    const k8s_sd::Environment& environment, const std::string& file,
    std::function<void(const std::string& why)> on_end);

/// \throws Unusable
k8s_sd::sim::Recording usable_recording(const std::string& file);

}  // namespace support
