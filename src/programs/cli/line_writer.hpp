#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cli {

/// The reader of the output has gone, or a signal came while waiting for it.
class OutputEnded : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// For programs that write to std::cout: reports a failed write.
/// \throws OutputEnded, std::runtime_error
void check_output();

/// Standard output, written by lines.
class LineWriter {
 public:
    LineWriter();
    LineWriter& operator<<(std::string_view text);
    /// Ends the line and writes it.
    /// \throws OutputEnded, std::system_error
    void end_line();

 private:
    void write_out();

    std::string buffer_;
};

}  // namespace cli
