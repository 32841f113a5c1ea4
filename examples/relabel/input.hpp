#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/labels.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

namespace relabel {

/// Unusable input; the text gives position and reason.
class InputError : public cli::Unusable {
 public:
    explicit InputError(const std::string& problem) : Unusable("standard input: " + problem) {}
};

/// A JSON array of label sets, or one label set on each line.
class Input {
 public:
    using Take = std::function<void(const k8s_sd::LabelMap&)>;

    /// Reads up to the first non-blank line to determine the format.
    explicit Input(std::istream&);
    bool is_array() const noexcept { return is_array_; }
    /// Calls `take` for each label set; with one on each line, as soon as the line has been read.
    /// \throws InputError
    void read(const Take& take);

 private:
    void read_lines(const Take&);
    void read_array(const Take&);

    std::istream& in_;
    std::string blank_;  ///< the lines before the first non-blank one
    std::string line_;   ///< the first non-blank line
    std::size_t line_number_ = 0;
    bool is_array_ = false;
};

}  // namespace relabel
