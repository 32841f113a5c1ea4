#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Refuses a contradictory `tlsConfig`, absent Secrets and ConfigMaps, and certificates or keys
/// that cannot be read or do not fit.
/// \param has_files  whether the settings may name files; otherwise such fields do not exist
void check_tls(const ObjectView& tls, const JobContext&, bool has_files = false);

/// The fields of a `tlsConfig`, which depend on the kind of its object.
struct TlsForm {
    bool empty_is_absent = true;  ///< so that the scrape class has its say
    bool has_files = false;       ///< `caFile`, `certFile`, `keyFile`
};

/// The section `tls_config`.
/// \param of_class  `tlsConfig` of the scrape class, absent if none
/// \param form  of `tls`
/// \returns nullopt if neither has any
std::optional<JobObject> tls_section(const ObjectView& tls, const ObjectView& of_class,
                                     TlsForm form, const JobContext&);

/// The section `tls_config` without a scrape class, for a client other than that of targets.
inline std::optional<JobObject> tls_section(const ObjectView& tls, const JobContext& context) {
    return tls_section(tls, ObjectView(nullptr, "", context.faults), {}, context);
}

}  // namespace k8s_sd::inline v0::detail
