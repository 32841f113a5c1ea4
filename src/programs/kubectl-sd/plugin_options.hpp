#pragma once

#include "answer.hpp"
#include "cli/command_line.hpp"
#include "config_map.hpp"
#include "options.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace kubectl_sd {

/// The values of the options of `why` and `targets`.
struct Question {
    k8s_sd_program::Options discovery;  ///< of the jobs and the server
    ConfigMapKey config_map;            ///< has the jobs; without a name: none
    std::string from;                   ///< URL of a running k8s-sd; empty: none
    std::vector<std::string> words;     ///< the object, or the job
    std::string ns;                     ///< empty: all namespaces
    Form form = Form::table;
    std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

/// Of `kubectl sd why`.
cli::CommandLine why_command(Question&);
/// Of `kubectl sd targets`.
cli::CommandLine targets_command(Question&);

/// The object as k8s-sd reads it: "pod/shop/web-1" for `pod web-1`, `pod/web-1` or `web-1` in the
/// namespace shop. \throws cli::UsageError
std::string object_name(const Question&);

/// Refuses questions without a configuration, or with several. \throws cli::UsageError
void check_origin(const Question&);

/// Arguments of kubectl's form in the form of this program: `-n shop` becomes `--namespace shop`.
std::vector<std::string> long_options(const std::vector<std::string>& arguments);

}  // namespace kubectl_sd
