#pragma once

#include "k8s_sd/labels.hpp"

#include <boost/json/value.hpp>
#include <string_view>

namespace k8s_sd_program {

/// Reads JSON sent by a client. \throws BadRequest
boost::json::value read_json(std::string_view text);

/// Reads a label set; labels with an empty value are dropped. \throws BadRequest
k8s_sd::LabelMap read_labels(const boost::json::value&);
k8s_sd::LabelMap read_labels(std::string_view json);

}  // namespace k8s_sd_program
