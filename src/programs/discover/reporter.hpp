#pragma once

#include "cli/line_writer.hpp"
#include "k8s_sd/target_group.hpp"
#include "options.hpp"

#include <memory>
#include <string>

namespace discover {

using cli::LineWriter;

/// Prints the diffs of the discoverers.
class Reporter {
 public:
    virtual ~Reporter() = default;
    virtual void diff(unsigned job, const k8s_sd::TargetGroupDiff&) = 0;
    /// Every job has delivered its complete state.
    virtual void synced() {}
    /// A note besides results, such as a change of the simulated cluster.
    /// \returns whether the output has it
    virtual bool comment(const std::string&) { return false; }
};

/// \param server  URL of the server, for users
std::unique_ptr<Reporter> make_text_reporter(LineWriter&, const Options&,
                                             const std::string& server);
std::unique_ptr<Reporter> make_json_reporter(LineWriter&, const Options&);
std::unique_ptr<Reporter> make_targets_reporter(LineWriter&, unsigned jobs);
/// Explains the targets of the object in the options. Its synced() throws cli::Unusable if
/// there is no such object.
std::unique_ptr<Reporter> make_explain_reporter(LineWriter&, const Options&);
std::unique_ptr<Reporter> make_quiet_reporter(LineWriter&, const Options&);

/// The reporter for the options' format.
std::unique_ptr<Reporter> make_reporter(LineWriter&, const Options&, const std::string& server);

}  // namespace discover
