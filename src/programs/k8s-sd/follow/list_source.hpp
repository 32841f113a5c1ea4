#pragma once

#include <string>

namespace k8s_sd_program {

/// The location of a list, and the name of its file.
struct ListSource {
    std::string name;    ///< of the list, and of the file without its suffix, see file_name_of()
    std::string url;     ///< as given
    bool tls = false;    ///< https
    std::string host;    ///< without the brackets of an IPv6 address
    std::string port;    ///< in decimal digits
    std::string target;  ///< path and query
};

/// Reads "http://k8s-sd:8080/sd/pods/targets", a list with the name "pods", or NAME=URL.
/// \throws cli::UsageError
ListSource read_list_source(const std::string& text);

}  // namespace k8s_sd_program
