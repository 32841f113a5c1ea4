#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace support {

/// The exit statuses of all example programs.
enum ExitStatus { exit_fine = 0, exit_failed = 1, exit_unusable = 2, exit_not_synced = 3 };

/// Something that the program was given cannot be used: exit status 2.
class Unusable : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// A command line that cannot be used; the text names the option and says what is allowed.
class UsageError : public Unusable {
 public:
    using Unusable::Unusable;
};

using Setter = std::function<void(const std::string& value)>;

struct Option {
    std::string name;      ///< "--role"
    std::string argument;  ///< what --help calls its value, "ROLE"; empty: it takes none
    std::string help;      ///< is wrapped; '\n' begins a new line
    /// Throws UsageError or k8s_sd::ConfigError for a bad value; the option's name is put in front.
    Setter set;
    bool required = false;
    bool may_be_empty = false;
};

/// Options that belong together in --help.
struct Section {
    std::string heading;  ///< may be empty
    std::vector<Option> options;
};

/// The argument without a name.
struct Positional {
    std::string name;  ///< "URL"; empty: there is none
    std::string help;
    Setter set;
    bool many = false;  ///< there may be more than one
};

/// An option of the command line, with its value.
struct GivenOption {
    const Option* option;
    std::string value;

    /// \throws UsageError
    void set() const;
};

/// What a program understands. --help and --version are understood by all.
struct CommandLine {
    std::string program;
    std::string about;  ///< what the program does, for --help
    std::vector<Section> sections;
    Positional positional{};
    std::string notes{};  ///< the end of --help
    /// Called before the options are set, wherever they stand, with all that were given: an option
    /// may decide how the others are read.
    std::function<void(const std::vector<GivenOption>&)> prepare{};

    /// What SIGINT, SIGTERM and SIGHUP do, see Signals.
    enum class OnSignal {
        end,            ///< SIGINT and SIGTERM end the program, with status 0
        end_or_reload,  ///< the same; SIGHUP is handled, too
        as_usual        ///< a filter: whoever reads its output must see that it is not complete
    };
    OnSignal on_signal = OnSignal::end;
    /// An option with which the program looks whether something is right: the status is 1 if a
    /// signal ends it.
    std::string checking_option{};

    std::string help() const;
};

/// The whole of main(): reads the arguments, sets the options in their order and calls `body`, or
/// prints what --help or --version ask for. Says what is wrong on standard error, in words for
/// users. From its beginning on signals do what the command line says.
/// \returns the exit status
int run_program(const CommandLine&, int argc, char** argv, const std::function<ExitStatus()>& body);

}  // namespace support
