#pragma once

#include "k8s_sd/labels.hpp"
#include "support/command_line.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

namespace relabel {

/// Input that cannot be used; the text says where and why.
class InputError : public support::Unusable {
 public:
    explicit InputError(const std::string& problem) : Unusable("standard input: " + problem) {}
};

/// A JSON array of label sets, or a label set a line.
class Input {
 public:
    using Take = std::function<void(const k8s_sd::LabelMap&)>;

    /// Reads as far as is needed to know which of them it is.
    explicit Input(std::istream&);
    bool is_array() const noexcept { return is_array_; }
    /// Calls `take` for each label set; for lines as soon as one has been read.
    /// \throws InputError
    void read(const Take& take);

 private:
    void read_lines(const Take&);
    void read_array(const Take&);

    std::istream& in_;
    std::string blank_;  ///< the lines before the first that is not
    std::string line_;   ///< that line
    std::size_t line_number_ = 0;
    bool is_array_ = false;
};

}  // namespace relabel
