#include "cli/recording.hpp"

#include "cli/command_line.hpp"

#include <stdexcept>
#include <utility>

namespace support {

std::shared_ptr<k8s_sd::Connector> recording_connector(
    const k8s_sd::Environment& environment, const std::string& file,
    std::function<void(const std::string& why)> on_end) {
    try {
        return std::make_shared<k8s_sd::sim::RecordingConnector>(
            k8s_sd::system_connector(environment), environment.clock, file,
            k8s_sd::sim::RecordingOptions{.on_end = std::move(on_end)});
    } catch (const std::runtime_error& e) {
        throw Unusable(std::string("--record: ") + e.what());
    }
}

k8s_sd::sim::Recording usable_recording(const std::string& file) {
    try {
        return k8s_sd::sim::read_recording(file);
    } catch (const std::runtime_error& e) {
        throw Unusable(std::string("--replay: ") + e.what());
    }
}

}  // namespace support
