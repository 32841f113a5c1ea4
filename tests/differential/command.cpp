#include "differential/command.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace k8s_sd::test {

CommandOutput run_command(const std::string& command) {
    const auto close = [](std::FILE* pipe) { return pclose(pipe); };
    std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "re"), close);
    if (!pipe) throw std::runtime_error("cannot run " + command);
    CommandOutput output;
    char buffer[4096];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get())) {
        output.text.append(buffer, n);
    }
    output.success = pclose(pipe.release()) == 0;
    return output;
}

std::string find_program(const std::string& name) {
    const char* folder = std::getenv("K8S_SD_PEERS");
    const std::string where = folder ? std::string(folder) + "/" + name : name;
    const CommandOutput output = run_command("command -v " + where);
    return output.text.substr(0, output.text.find('\n'));
}

std::uint64_t setting(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : fallback;
}

}  // namespace k8s_sd::test
