#pragma once

#include "cli/json_text.hpp"
#include "json/json_writer.hpp"

#include <string>
#include <string_view>

namespace k8s_sd_program {

struct ProgramQuote {
    static void append(std::string& out, std::string_view text) { cli::append_json(out, text); }
};

using JsonWriter = k8s_sd_json::JsonWriter<ProgramQuote>;

}  // namespace k8s_sd_program
