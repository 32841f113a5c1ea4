#pragma once

#include "soak/host.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace k8s_sd_program {
class Program;
}

namespace bench::soak {

/// k8s-sd with a job of pods and one of endpoint slices, whose lists a reader requests again and
/// again, as Prometheus does.
class ProgramHost final : public Host {
 public:
    explicit ProgramHost(const Server&);
    ~ProgramHost() override;

    std::size_t size() const override;

 private:
    struct List {
        std::string tag;
        std::size_t targets = 0;
    };
    void ask() override;
    void ask_for(const std::string& job);
    void on_list(const std::string& job, const std::string& body);

    const std::filesystem::path file_;
    std::unique_ptr<k8s_sd_program::Program> program_;
    std::map<std::string, List> lists_;  ///< by job
};

}  // namespace bench::soak
