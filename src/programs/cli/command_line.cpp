#include "cli/command_line.hpp"

#include "cli/line_writer.hpp"
#include "cli/option_values.hpp"
#include "cli/signals.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/version.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

namespace cli {

namespace {

/// The two options of every program. Help has the short form -h, too.
const Option& help_option() {
    static const Option option{"--help", "", "", {}};
    return option;
}
const Option& version_option() {
    static const Option option{"--version", "", "", {}};
    return option;
}

std::vector<const Option*> options_of(const CommandLine& command) {
    std::vector<const Option*> options{&help_option(), &version_option()};
    for (const Section& section : command.sections) {
        for (const Option& option : section.options) options.push_back(&option);
    }
    return options;
}

const Option& find_option(const std::vector<const Option*>& options, std::string_view name) {
    if (name == "-h") return help_option();
    std::vector<std::string_view> names;
    for (const Option* option : options) {
        if (option->name == name) return *option;
        names.push_back(option->name);
    }
    throw UsageError("unknown option " + std::string(name) + suggestion(name, names) +
                     "; --help lists the options");
}

/// The parsed arguments, before any option is set.
struct Given {
    std::vector<GivenOption> options;
    std::vector<std::string> positional;

    bool has(const Option& option) const { return has(option.name); }
    bool has(const std::string& name) const {
        return std::any_of(options.begin(), options.end(),
                           [&](const GivenOption& given) { return given.option->name == name; });
    }
};

/// Accepts "--name value" and "--name=value".
class Reader {
 public:
    Reader(const CommandLine& command, const std::vector<std::string>& arguments)
        : command_(command), options_(options_of(command)), arguments_(arguments) {}

    Given read() {
        for (; next_ < arguments_.size(); ++next_) {
            if (arguments_[next_].starts_with('-')) {
                read_option(arguments_[next_]);
            } else {
                read_positional(arguments_[next_]);
            }
        }
        return std::move(given_);
    }

 private:
    void read_option(const std::string& text) {
        const std::size_t equals = text.find('=');
        const Option& option = find_option(options_, std::string_view(text).substr(0, equals));
        std::optional<std::string> value;
        if (equals != std::string::npos) {
            value = text.substr(equals + 1);
        } else if (!option.argument.empty() && next_ + 1 < arguments_.size()) {
            value = arguments_[++next_];
        }
        check(option, value);
        given_.options.push_back({&option, value.value_or("")});
    }
    static void check(const Option& option, const std::optional<std::string>& value) {
        if (option.argument.empty()) {
            if (value) throw UsageError(option.name + " takes no value");
        } else if (!value || (value->empty() && !option.may_be_empty)) {
            throw UsageError(option.name + " needs a value");
        }
    }
    void read_positional(const std::string& text) {
        const bool enough = !given_.positional.empty() && !command_.positional.many;
        if (command_.positional.name.empty() || enough) {
            throw UsageError("unexpected argument " + text + "; --help lists the options");
        }
        given_.positional.push_back(text);
    }

    const CommandLine& command_;
    std::vector<const Option*> options_;
    const std::vector<std::string>& arguments_;
    std::size_t next_ = 0;
    Given given_;
};

void check_required(const CommandLine& command, const Given& given) {
    for (const Section& section : command.sections) {
        for (const Option& option : section.options) {
            if (!option.required || given.has(option)) continue;
            throw UsageError(option.name + " " + option.argument + " is missing");
        }
    }
}

/// Refuses options that would have no effect.
void check_partners(const CommandLine& command, const Given& given) {
    const std::vector<const Option*> options = options_of(command);
    for (const GivenOption& one : given.options) {
        const auto& partners = one.option->partners;
        const auto is_given = [&](const std::string& name) { return given.has(name); };
        if (partners.empty() || std::any_of(partners.begin(), partners.end(), is_given)) continue;
        std::string needed;
        for (const std::string& name : partners) {
            const Option& partner = find_option(options, name);
            needed += (needed.empty() ? "" : " or ") + name +
                      (partner.argument.empty() ? "" : " " + partner.argument);
        }
        throw UsageError(one.option->name + ": needs " + needed);
    }
}

void set(const CommandLine& command, const Given& given) {
    if (command.prepare) command.prepare(given.options);
    for (const GivenOption& option : given.options) option.set();
    for (const std::string& text : given.positional) command.positional.set(text);
    check_required(command, given);
    check_partners(command, given);
}

void handle_signals(const CommandLine& command, const std::vector<std::string>& arguments) {
    if (command.on_signal == CommandLine::OnSignal::as_usual) return;
    const bool fails =
        command.on_signal == CommandLine::OnSignal::fail ||
        (!command.checking_option.empty() &&
         std::find(arguments.begin(), arguments.end(), command.checking_option) != arguments.end());
    Signals::handle(fails ? exit_failed : exit_fine,
                    command.on_signal == CommandLine::OnSignal::end_or_reload);
}

ExitStatus answer(const CommandLine& command, const std::vector<std::string>& arguments,
                  const std::function<ExitStatus()>& body) {
    const Given given = Reader(command, arguments).read();
    if (given.has(help_option())) {
        std::cout << command.help();
        return exit_fine;
    }
    if (given.has(version_option())) {
        std::cout << command.program << " (k8s_sd) " K8S_SD_VERSION "\n";
        return exit_fine;
    }
    set(command, given);
    return body();
}

ExitStatus run(const CommandLine& command, const std::vector<std::string>& arguments,
               const std::function<ExitStatus()>& body) {
    const ExitStatus status = answer(command, arguments, body);
    if (status == exit_fine) check_output();
    return status;
}

/// Otherwise a file, a pipe or a socket of the program would be its standard input or output.
void open_standard_descriptors() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        // open() returns the lowest free one.
        if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
    }
}

}  // namespace

void GivenOption::set() const {
    try {
        option->set(value);
    } catch (const k8s_sd::ConfigError& e) {
        throw UsageError(option->name + ": " + e.problem());
    } catch (const UsageError& e) {
        throw UsageError(option->name + ": " + e.what());
    }
}

int run_program(const CommandLine& command, int argc, char** argv,
                const std::function<ExitStatus()>& body) {
    // Messages quote file names and file contents, which may be anything.
    const auto print_error = [&](const std::exception& error, const std::string& hint = {}) {
        const std::string text = printable(k8s_sd::in_words(error), std::string::npos);
        if (command.print_error && command.print_error(text)) return;
        std::cerr << command.program << ": " << text << '\n' << hint;
    };
    try {
        open_standard_descriptors();
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        handle_signals(command, arguments);
        return run(command, arguments, body);
    } catch (const OutputEnded&) {
        return exit_fine;
    } catch (const UsageError& e) {
        print_error(e, "Try '" + command.program + " --help'.\n");
        return exit_unusable;
    } catch (const Unusable& e) {
        print_error(e);
        return exit_unusable;
    } catch (const k8s_sd::ConfigError& e) {
        print_error(e);
        return exit_unusable;
    } catch (const std::exception& e) {
        print_error(e);
        return exit_failed;
    }
}

}  // namespace cli
