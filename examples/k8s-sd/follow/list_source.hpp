#pragma once

#include <string>

namespace bridge {

/// Where a list is, and what its file is called.
struct ListSource {
    std::string name;    ///< of the list: the file without its suffix, see file_name_of()
    std::string url;     ///< as it was given
    bool tls = false;    ///< https
    std::string host;    ///< without the brackets of an IPv6 address
    std::string port;    ///< in decimal digits
    std::string target;  ///< path and query
};

/// Reads "http://k8s-sd:8080/sd/pods/targets", whose name is "pods", or NAME=URL.
/// \throws support::UsageError
ListSource read_list_source(const std::string& text);

}  // namespace bridge
