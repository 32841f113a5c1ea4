#pragma once

#include "k8s_sd_c.h"

#include <stdexcept>
#include <string>

namespace k8s_sd_c {

/// A failed call.
class Failure : public std::runtime_error {
 public:
    Failure(k8s_sd_code code, const std::string& text) : std::runtime_error(text), code_(code) {}
    k8s_sd_code code() const noexcept { return code_; }

 private:
    k8s_sd_code code_;
};

/// Fills `error`, if the host wants it, with the exception in flight.
k8s_sd_code report(k8s_sd_error** error) noexcept;

/// Runs the body of a function of the interface: no exception crosses the border.
template <class Body>
k8s_sd_code guarded(k8s_sd_error** error, const Body& body) noexcept {
    try {
        body();
        return K8S_SD_OK;
    } catch (...) {
        return report(error);
    }
}

}  // namespace k8s_sd_c
