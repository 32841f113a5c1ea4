#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace relabel {

/// What the command line asks for.
struct Options {
    std::string rules_file;
    k8s_sd::RelabelOptions rules;
    bool explain = false;
    bool help = false;
    bool version = false;
};

/// A command line that cannot be used; the text names the option and says what is allowed.
class UsageError : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// Reads the arguments, without the program's name.
/// \throws UsageError
Options parse_options(const std::vector<std::string>& arguments);

/// What --help prints.
std::string_view help_text() noexcept;

}  // namespace relabel
