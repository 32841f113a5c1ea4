#include "failure.hpp"

#include "k8s_sd/error.hpp"

#include <boost/system/system_error.hpp>
#include <new>
#include <system_error>
#include <utility>

struct k8s_sd_error {
    k8s_sd_code code;
    std::string text;
};

namespace k8s_sd_c {

namespace {

/// For want of memory for a better one; never freed.
k8s_sd_error& out_of_memory() noexcept {
    static k8s_sd_error error{K8S_SD_OUT_OF_MEMORY, "out of memory"};  // fits into the string
    return error;
}

k8s_sd_code fill(k8s_sd_error** error, k8s_sd_code code, const char* text) noexcept {
    if (!error) return code;
    try {
        *error = new k8s_sd_error{code, text};
    } catch (const std::bad_alloc&) {
        *error = &out_of_memory();
    }
    return code;
}

/// The text of in_words(), which allocates.
k8s_sd_code fill_in_words(k8s_sd_error** error, k8s_sd_code code, const std::exception& e) {
    return fill(error, code, k8s_sd::in_words(e).c_str());
}

k8s_sd_code classify(k8s_sd_error** error) try { throw; } catch (const Failure& failure) {
    return fill(error, failure.code(), failure.what());
} catch (const k8s_sd::ConfigError& e) {
    return fill(error, K8S_SD_INVALID_CONFIG, e.what());
} catch (const std::bad_alloc&) {
    return fill(error, K8S_SD_OUT_OF_MEMORY, "out of memory");
} catch (const boost::system::system_error& e) {
    return fill_in_words(error, K8S_SD_SYSTEM, e);
} catch (const std::system_error& e) {
    return fill_in_words(error, K8S_SD_SYSTEM, e);
} catch (const std::exception& e) {
    return fill_in_words(error, K8S_SD_INTERNAL, e);
}

}  // namespace

k8s_sd_code report(k8s_sd_error** error) noexcept {
    try {
        return classify(error);
    } catch (...) {
        return fill(error, K8S_SD_INTERNAL, "an exception of an unknown type");
    }
}

}  // namespace k8s_sd_c

extern "C" {

k8s_sd_code k8s_sd_error_code(const k8s_sd_error* error) { return error ? error->code : K8S_SD_OK; }

const char* k8s_sd_error_text(const k8s_sd_error* error) {
    return error ? error->text.c_str() : "";
}

void k8s_sd_error_free(k8s_sd_error* error) {
    if (error != &k8s_sd_c::out_of_memory()) delete error;
}

const char* k8s_sd_code_name(int code) {
    switch (code) {
        case K8S_SD_OK: return "K8S_SD_OK";
        case K8S_SD_INVALID_ARGUMENT: return "K8S_SD_INVALID_ARGUMENT";
        case K8S_SD_INVALID_CONFIG: return "K8S_SD_INVALID_CONFIG";
        case K8S_SD_NOT_FOUND: return "K8S_SD_NOT_FOUND";
        case K8S_SD_CLOSED: return "K8S_SD_CLOSED";
        case K8S_SD_FORKED: return "K8S_SD_FORKED";
        case K8S_SD_BUSY: return "K8S_SD_BUSY";
        case K8S_SD_UNSUPPORTED: return "K8S_SD_UNSUPPORTED";
        case K8S_SD_OUT_OF_MEMORY: return "K8S_SD_OUT_OF_MEMORY";
        case K8S_SD_SYSTEM: return "K8S_SD_SYSTEM";
        case K8S_SD_INTERNAL: return "K8S_SD_INTERNAL";
        default: return "K8S_SD_UNKNOWN";
    }
}

}  // extern "C"
