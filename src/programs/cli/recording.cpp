#include "cli/recording.hpp"

#include "cli/option_values.hpp"

#include <stdexcept>
#include <utility>

namespace support {

std::vector<Option> record_options(RecordOptions& o) {
    return {
        {"--record", "FILE",
         "write what API servers send to this file, without credentials, for a report of a "
         "mistake; it has names, labels and annotations of objects",
         text(o.file)},
        {"--record-keep", "N",
         "keep the recordings of the last N runs as FILE.1, FILE.2 and so on (default 0)",
         [&o](const std::string& value) { o.former_files = number(value, 0U, 100U, "0 to 100"); }},
        {"--anonymise", "",
         "replace names, values of labels and annotations, and addresses in the recording; "
         "FILE.names has the originals",
         flag(o.anonymise)}};
}

void check(const RecordOptions& o) {
    if (!o.file.empty()) return;
    if (o.anonymise) throw UsageError("--anonymise: needs --record FILE");
    if (o.former_files > 0) throw UsageError("--record-keep: needs --record FILE");
}

void record(const RecordOptions& o, k8s_sd::Environment& environment,
            std::function<void(const std::string& why)> on_end) {
    if (o.file.empty()) return;
    environment.clock = k8s_sd::system_clock();
    try {
        environment.connector = std::make_shared<k8s_sd::sim::RecordingConnector>(
            k8s_sd::system_connector(environment), environment.clock, o.file,
            k8s_sd::sim::RecordingOptions{.former_files = o.former_files,
                                          .anonymise = o.anonymise,
                                          .on_end = std::move(on_end)});
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
