#pragma once

#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Programs that end on the test's command. For one thread.
class FakeProgramRunner final : public ProgramRunner {
 public:
    std::shared_ptr<void> async_run(Program program, Handler handler) override {
        programs.push_back(std::move(program));
        handlers.push_back(std::move(handler));
        const auto alive = std::make_shared<int>(0);
        alive_.push_back(alive);
        return alive;
    }
    /// Ends the last program.
    void end(Result result) {
        const Handler handler = handlers.back();
        handler(std::move(result));
    }
    void print(std::string output) {
        Result result;
        result.output = std::move(output);
        end(std::move(result));
    }
    /// Ends the last program with an ExecCredential of this status.
    void issue(const std::string& status) {
        print(
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
            status + "}");
    }
    /// Whether the result of the last program is still needed.
    bool wanted() const { return !alive_.back().expired(); }
    std::size_t runs() const { return programs.size(); }

    std::vector<Program> programs;
    std::vector<Handler> handlers;

 private:
    std::vector<std::weak_ptr<void>> alive_;
};

}  // namespace k8s_sd::test
