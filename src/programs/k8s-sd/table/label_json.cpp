#include "table/label_json.hpp"

#include "lists/list_selection.hpp"

#include <boost/json/parse.hpp>
#include <string>

namespace k8s_sd_program {

boost::json::value read_json(std::string_view text) {
    boost::system::error_code error;
    boost::json::value value = boost::json::parse(text, error);
    if (error) throw BadRequest("this is no JSON: " + error.message());
    return value;
}

k8s_sd::LabelMap read_labels(const boost::json::value& value) {
    const auto* object = value.if_object();
    if (!object) throw BadRequest("labels: must be an object of texts");
    k8s_sd::LabelMap labels;
    for (const auto& [name, text] : *object) {
        if (!text.is_string()) {
            throw BadRequest("labels: the value of " + std::string(name) + " is no text");
        }
        if (!text.as_string().empty()) labels.emplace(name, text.as_string());
    }
    return labels;
}

k8s_sd::LabelMap read_labels(std::string_view json) { return read_labels(read_json(json)); }

}  // namespace k8s_sd_program
