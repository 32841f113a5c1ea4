// A plugin of kubectl: why an object is a target or not. See docs/programs/kubectl-sd.md.

#include "answer.hpp"
#include "k8s_sd/version.hpp"
#include "plugin_options.hpp"
#include "questions.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace kubectl_sd;
namespace json = boost::json;

std::string encoded(const std::string& text) {
    constexpr const char* digits = "0123456789ABCDEF";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        if (plain) {
            result += c;
        } else {
            result += {'%', digits[byte / 16], digits[byte % 16]};
        }
    }
    return result;
}

const json::array& array_in(const json::object& answer, const std::string& name) {
    const json::value* value = answer.if_contains(name);
    const json::array* array = value ? value->if_array() : nullptr;
    if (!array) throw std::runtime_error("its answer has no " + name);
    return *array;
}

cli::ExitStatus why(const Question& question) {
    const std::string object = object_name(question);
    Questions questions(question, "/api/ui/object?q=" + encoded(object),
                        [](ClusterAnswer& cluster, const json::object& answer) {
                            array_in(answer, "jobs");
                            cluster.answer = answer;
                            return std::string();
                        });
    const std::vector<ClusterAnswer>& answers = questions.ask();
    if (questions.is_printable(question.form)) {
        std::cout << why_text(answers, question.form) << std::flush;
    }
    const bool complete = questions.print_errors();
    const bool found = std::any_of(answers.begin(), answers.end(), [](const ClusterAnswer& one) {
        const json::value* flag = one.answer.if_contains("found");
        return flag && *flag == true;
    });
    if (found) return complete ? cli::exit_fine : cli::exit_failed;
    if (questions.has_answers()) {
        std::cerr << "kubectl-sd: no job discovers " << object
                  << (complete ? "" : " in the other clusters") << '\n';
    }
    return cli::exit_failed;
}

cli::ExitStatus targets(const Question& question) {
    std::string url = "/api/ui/targets?limit=1000";
    for (const std::string& job : question.words) url += "&job=" + encoded(job);
    if (!question.ns.empty()) url += "&namespace=" + encoded(question.ns);
    Questions questions(question, url, [url](ClusterAnswer& cluster, const json::object& answer) {
        const json::array& page = array_in(answer, "rows");
        cluster.rows.insert(cluster.rows.end(), page.begin(), page.end());
        const json::value* next = answer.if_contains("next");
        const json::string* after = next ? next->if_string() : nullptr;
        if (!after || after->empty() || page.empty()) return std::string();
        return url + "&after=" + encoded(std::string(*after));
    });
    const std::vector<ClusterAnswer>& answers = questions.ask();
    if (questions.has_answers()) std::cout << targets_text(answers, question.form) << std::flush;
    return questions.print_errors() ? cli::exit_fine : cli::exit_failed;
}

/// Replaces this process by the program discover, which is beside it or in $PATH.
int run_discover(const std::string& option, const std::vector<std::string>& arguments) {
    std::error_code ignored;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
    // Packages have it by the longer name where another program is called discover.
    std::filesystem::path beside = own.parent_path() / "k8s-sd-discover";
    if (!std::filesystem::exists(beside, ignored)) beside = own.parent_path() / "discover";
    const std::string program =
        std::filesystem::exists(beside, ignored) ? beside.string() : std::string("discover");
    std::vector<std::string> words{"discover", option};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(program.c_str(), pointers.data());
    std::cerr << "kubectl-sd: " << program << " cannot be run: " << std::strerror(errno)
              << "; it is installed with kubectl-sd\n";
    return cli::exit_failed;
}

constexpr const char* help =
    "Usage: kubectl sd COMMAND [OPTION]...\n\n"
    "Answers questions about service discovery.\n\n"
    "  why OBJECT     whether an object is a target of each job, or which rule drops it\n"
    "  targets        the targets of a configuration\n"
    "  check          try every step of a discovery: connection, credentials, permissions\n"
    "  rbac           print the permissions of a discovery as a manifest\n\n"
    "kubectl sd COMMAND --help lists the options of a command.\n";

int ask(const cli::CommandLine& command, const std::vector<std::string>& arguments,
        const std::function<cli::ExitStatus()>& body) {
    std::vector<std::string> words{"kubectl-sd"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return cli::run_program(command, static_cast<int>(pointers.size()), pointers.data(), body);
}

int print(const std::string& text) {
    return ask({.program = "kubectl-sd", .about = {}, .sections = {}}, {}, [&] {
        std::cout << text;
        return cli::exit_fine;
    });
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    const std::vector<std::string> rest(argv + std::min(argc, 2), argv + argc);
    const std::vector<std::string> arguments = long_options(rest);
    Question question;
    if (command == "why") {
        return ask(why_command(question), arguments, [&] { return why(question); });
    }
    if (command == "targets") {
        return ask(targets_command(question), arguments, [&] { return targets(question); });
    }
    if (command == "check") return run_discover("--check", arguments);
    if (command == "rbac") return run_discover("--print-rbac", arguments);
    if (command == "--help" || command == "-h" || command == "help") return print(help);
    if (command == "--version") return print("kubectl-sd (k8s_sd) " K8S_SD_VERSION "\n");
    std::cerr << "kubectl-sd: "
              << (command.empty() ? std::string("needs a command") : "unknown command " + command)
              << "\n\n"
              << help;
    return cli::exit_unusable;
}
