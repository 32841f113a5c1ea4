#include "support/json_text.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>

namespace support {

void write_json(LineWriter& out, std::string_view text) {
    out << boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

void write_json(LineWriter& out, const k8s_sd::LabelMap& labels) {
    out << "{";
    const char* separator = "";
    for (const auto& [name, value] : labels) {
        out << separator;
        write_json(out, name);
        out << ":";
        write_json(out, value);
        separator = ",";
    }
    out << "}";
}

}  // namespace support
