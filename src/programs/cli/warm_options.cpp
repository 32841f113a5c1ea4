#include "cli/warm_options.hpp"

#include "cli/option_values.hpp"

#include <sys/stat.h>
#include <cerrno>
#include <cstring>
#include <string>

namespace cli {

Section warm_options(k8s_sd::WarmStart& o) {
    const std::string directory = "--snapshot-dir";
    return {
        "Targets over restarts",
        {{directory, "DIRECTORY",
          "keep the targets, and the members of the fleet, in files of this directory, for a start "
          "while the API server is down; created with mode 0700 if missing",
          text(o.directory)},
         Option{"--snapshot-after", "SECONDS",
                "use them if the API server has not responded within this time (default 5; 0: at "
                "once)",
                [&o](const std::string& v) {
                    o.server_timeout = v == "0" ? k8s_sd::Duration{} : seconds(v);
                }}
             .with({directory}),
         Option{"--snapshot-max-age", "SECONDS", "ignore older files (default 3600)",
                [&o](const std::string& v) { o.max_age = seconds(v); }}
             .with({directory}),
         Option{"--snapshot-annotations", "PREFIX",
                "keep annotations with this prefix, as written in labels, in addition to "
                "prometheus_io_; repeatable. They may be credentials",
                [&o](const std::string& v) { o.annotations.push_back(v); }}
             .with({directory})}};
}

void make_snapshot_directory(const k8s_sd::WarmStart& o) {
    if (o.directory.empty()) return;
    const int error = ::mkdir(o.directory.c_str(), S_IRWXU) == 0 ? 0 : errno;
    struct stat found {};
    const bool is_there = ::stat(o.directory.c_str(), &found) == 0;
    if (is_there && S_ISDIR(found.st_mode)) return;
    const std::string why = is_there ? "is not a directory" : std::strerror(error);
    throw UsageError("--snapshot-dir: " + o.directory + ": " + why);
}

}  // namespace cli
