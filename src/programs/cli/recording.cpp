#include "cli/recording.hpp"

#include "cli/option_values.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace cli {

using k8s_sd::Compression;

std::vector<Option> record_options(RecordOptions& o) {
    const std::string file = "--record";
    return {
        {file, "FILE",
         "write what API servers send to this file, without credentials, for a report of a "
         "mistake; it has names, labels and annotations of objects",
         text(o.file)},
        Option{
            "--record-keep", "N",
            "keep the last N files as FILE.1, FILE.2 and so on (default 0): those of former runs, "
            "and full ones of this run, each followed by the next one",
            [&o](const std::string& value) {
                o.former_files = number(value, 0U, 100U, "0 to 100");
            }}
            .with({file}),
        Option{
            "--record-max-size", "MIB",
            "size of a file (default 256); then the recording ends, or goes on in the next file "
            "with --record-keep; the program goes on",
            [&o](const std::string& value) { o.max_mib = number(value, 1U, 65536U, "1 to 65536"); }}
            .with({file}),
        Option{"--anonymise", "",
               "replace names, values of labels and annotations, and addresses in the recording; "
               "FILE.names has the originals",
               flag(o.anonymise)}
            .with({file})};
}

void record(const RecordOptions& o, k8s_sd::Environment& environment,
            const std::function<void(const std::string& line)>& log) {
    if (o.file.empty()) return;
    environment.clock = k8s_sd::system_clock();
    try {
        environment.connector = std::make_shared<k8s_sd::sim::RecordingConnector>(
            k8s_sd::system_connector(environment), environment.clock, o.file,
            k8s_sd::sim::RecordingOptions{
                .max_bytes = std::uint64_t{o.max_mib} << 20,
                .former_files = o.former_files,
                .anonymise = o.anonymise,
                .on_end =
                    [log](const std::string& why) { log("the recording ends early: " + why); },
                .on_full = log});
    } catch (const std::runtime_error& e) {
        throw Unusable(std::string("--record: ") + e.what());
    }
}

void prepare_to_record(const RecordOptions& o, k8s_sd::DiscoveryConfig& config) {
    // Anonymous recordings need the text.
    if (o.file.empty() || o.anonymise) return;
    if (config.watch.gzip == Compression::automatic) config.watch.gzip = Compression::always;
}

void prepare_to_replay(const k8s_sd::sim::Recording& recording, k8s_sd::DiscoveryConfig& config) {
    using Part = k8s_sd::sim::RecordedPart;
    // An automatic choice is not for gzip at first. Only requests for objects have parameters.
    const auto list =
        std::find_if(recording.parts.begin(), recording.parts.end(), [](const Part& part) {
            const std::string line = part.text.substr(0, part.text.find('\n'));
            return part.kind == Part::Kind::request && line.find('?') != std::string::npos;
        });
    if (list == recording.parts.end()) return;
    if (list->text.find("Accept-Encoding: gzip") != std::string::npos) {
        config.watch.gzip = Compression::always;
    } else if (config.watch.gzip == Compression::always) {
        config.watch.gzip = Compression::automatic;
    }
}

k8s_sd::sim::Recording usable_recording(const std::string& file) {
    try {
        return k8s_sd::sim::read_recording(file);
    } catch (const std::runtime_error& e) {
        throw Unusable(std::string("--replay: ") + e.what());
    }
}

}  // namespace cli
