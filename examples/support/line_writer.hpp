#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

/// Nobody reads our output any more, or a signal came while we waited for the reader.
class OutputEnded : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Standard output, a line at a time.
class LineWriter {
 public:
    LineWriter();
    LineWriter& operator<<(std::string_view text);
    /// Ends the line and writes it out.
    /// \throws OutputEnded, std::system_error
    void end_line();

 private:
    void write_out();

    std::string buffer_;
};

}  // namespace support
