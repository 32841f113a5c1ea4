#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace k8s_sd_c {

/// Takes the first reference token off a JSON pointer (RFC 6901), unescaped. \pre it begins with /
std::string take_token(std::string_view& pointer);

/// The value at a JSON pointer; null if there is none.
const boost::json::value* find(const boost::json::value& value, std::string_view pointer);

}  // namespace k8s_sd_c
