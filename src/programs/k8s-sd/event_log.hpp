#pragma once

#include <string>
#include <string_view>

namespace k8s_sd_program {

/// Lines on standard error, each with its time. Any thread; all copies share the output.
class EventLog {
 public:
    /// \param program  the prefix of each line
    EventLog(std::string_view program, bool times) : program_(program), times_(times) {}

    /// Prefixes each line of the text with the time and the program.
    void operator()(const std::string& text) const;

 private:
    std::string program_;
    bool times_;
};

}  // namespace k8s_sd_program
