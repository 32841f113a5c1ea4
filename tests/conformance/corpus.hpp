#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/role.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// The targets a real client discovered in one state of a case.
struct Answer {
    std::vector<LabelMap> targets;  ///< without labels of empty value
    /// Labels to which Prometheus gives a random one of these values.
    std::map<std::string, std::set<std::string>> unstable;
};

/// A job of a case: one kubernetes_sd_configs entry.
struct CorpusJob {
    std::string name;
    std::string yaml;
    std::string own_namespace;  ///< "" if the client does not run in the cluster
};

/// One document of a recorded watch.
struct WatchLine {
    std::string resource;  ///< "pods"
    std::string json;
    std::uint64_t version = 0;  ///< of the object; 0 for an ERROR
};

/// One case of the recorded corpus; tests/data/conformance/README.md describes the files.
struct CorpusCase {
    std::string name;
    std::vector<CorpusJob> jobs;
    /// Directories of the initial state and of the state after each step.
    std::vector<std::filesystem::path> states;
};

/// The names of all cases, sorted.
std::vector<std::string> corpus_cases();
CorpusCase read_case(const std::string& name);

/// The bodies of the LIST responses of a state.
std::vector<std::string> read_lists(const std::filesystem::path& state);
/// The events of a step, of all resources, in chronological order.
std::vector<WatchLine> read_events(const std::filesystem::path& step);
/// nullopt if the client of this dialect does not accept the job.
std::optional<Answer> read_answer(const std::filesystem::path& state, const std::string& job,
                                  LabelDialect dialect);
/// The number of answer files of one dialect in a case, counted independently of the readers above.
std::size_t count_answers(const std::string& case_name, LabelDialect dialect);
/// The number of jobs in all cases, counted likewise.
std::size_t count_jobs();

}  // namespace k8s_sd::test
