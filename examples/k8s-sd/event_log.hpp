#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// Lines on standard error, each with its time. Any thread; copies write to the same place.
class EventLog {
 public:
    /// \param program  is named in each line
    EventLog(std::string_view program, bool times) : program_(program), times_(times) {}

    /// Each line of the text gets the time and the program.
    void operator()(const std::string& text) const;

 private:
    std::string program_;
    bool times_;
};

}  // namespace bridge
