#include "reporter.hpp"

namespace discover {

std::unique_ptr<Reporter> make_reporter(LineWriter& out, const Options& options,
                                        const std::string& server) {
    if (!options.explain.empty()) return make_explain_reporter(out, options);
    switch (options.output) {
        case Output::text: return make_text_reporter(out, options, server);
        case Output::json: return make_json_reporter(out, options);
        case Output::targets: return make_targets_reporter(out, options.jobs);
        case Output::quiet: return make_quiet_reporter(out, options);
    }
    return nullptr;
}

}  // namespace discover
