#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// The exit statuses of all programs and examples.
enum ExitStatus { exit_fine = 0, exit_failed = 1, exit_unusable = 2, exit_not_synced = 3 };

/// An unusable input of the program: exit status 2.
class Unusable : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// An invalid command line; the text names the option and the allowed values.
class UsageError : public Unusable {
 public:
    using Unusable::Unusable;
};

using Setter = std::function<void(const std::string& value)>;

struct Option {
    std::string name;      ///< "--role"
    std::string argument;  ///< name of its value in --help, "ROLE"; empty: no value
    std::string help;      ///< is wrapped; '\n' begins a new line
    /// Throws UsageError or k8s_sd::ConfigError for an invalid value; the caller prepends the name.
    Setter set;
    bool required = false;
    bool may_be_empty = false;
    /// The option has an effect only with one of these; empty: always.
    std::vector<std::string> partners{};

    Option with(std::vector<std::string> names) && {
        partners = std::move(names);
        return std::move(*this);
    }
};

/// Related options in --help.
struct Section {
    std::string heading;  ///< may be empty
    std::vector<Option> options;
};

/// The argument without a name.
struct Positional {
    std::string name;  ///< "URL"; empty: none
    std::string help;
    Setter set;
    bool many = false;  ///< more than one is allowed
};

/// An option of the command line, with its value.
struct GivenOption {
    const Option* option;
    std::string value;

    /// \throws UsageError
    void set() const;
};

/// The options and arguments of a program, in addition to --help and --version.
struct CommandLine {
    std::string program;
    std::string about;  ///< what the program does, for --help
    std::vector<Section> sections;
    Positional positional{};
    std::string notes{};  ///< the end of --help
    /// Called before the options are set, regardless of their position, with all given options: one
    /// option may affect the parsing of the others.
    std::function<void(const std::vector<GivenOption>&)> prepare{};

    /// The effect of SIGINT, SIGTERM and SIGHUP, see Signals.
    enum class OnSignal {
        end,            ///< SIGINT and SIGTERM end the program, with status 0
        end_or_reload,  ///< the same; SIGHUP is handled too
        as_usual,       ///< a filter: readers must see incomplete output as such
        fail            ///< SIGINT and SIGTERM end the program, with status 1: it has no answer
    };
    OnSignal on_signal = OnSignal::end;
    /// An option for programs that check something: if a signal ends the program, its status is 1.
    std::string checking_option{};
    /// Reports the error that ends the program in another form than the usual one.
    /// \return false if the usual form is wanted
    std::function<bool(const std::string& text)> print_error{};

    std::string help() const;
};

/// The whole of main(): reads the arguments, sets the options in their order and calls `body`, or
/// prints the output of --help or --version. Reports errors on standard error, in words for users.
/// From its start on, signals are handled as the command line says.
/// \returns the exit status
int run_program(const CommandLine&, int argc, char** argv, const std::function<ExitStatus()>& body);

}  // namespace cli
