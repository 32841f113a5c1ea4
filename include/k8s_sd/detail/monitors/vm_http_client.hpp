#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

/// Credentials and TLS settings of HTTP clients in objects of VictoriaMetrics' operator, with its
/// rules (build/cache.go, vmscrapes/vmscrapes.go): a field is missing if it is empty, a section
/// without content is left out, and a Secret has precedence over a file.
namespace k8s_sd::inline v0::detail {

/// The names of the fields of a client; "": it has no such field. Within the sections all clients
/// have the same names.
struct VMClientFields {
    std::string_view basic_auth = "";
    std::string_view authorization = "";
    std::string_view oauth2 = "";
    std::string_view tls = "";
    std::string_view token = "";  ///< a key of a Secret
    std::string_view token_file = "";
    bool prefers_token = false;  ///< to the file
};
/// Of a service discovery, and of an API server, whose token is a text.
inline constexpr VMClientFields vm_section_fields{.basic_auth = "basicAuth",
                                                  .authorization = "authorization",
                                                  .oauth2 = "oauth2",
                                                  .tls = "tlsConfig"};
/// Of an endpoint, and of a scrape class.
inline constexpr VMClientFields vm_endpoint_fields{.basic_auth = "basicAuth",
                                                   .authorization = "authorization",
                                                   .oauth2 = "oauth2",
                                                   .tls = "tlsConfig",
                                                   .token = "bearerTokenSecret",
                                                   .token_file = "bearerTokenFile"};
/// Of `proxy_client_config`.
inline constexpr VMClientFields vm_proxy_fields{.basic_auth = "basic_auth",
                                                .tls = "tls_config",
                                                .token = "bearer_token",
                                                .token_file = "bearer_token_file",
                                                .prefers_token = true};

/// Refuses contradictions and absent Secrets.
void check_vm_client(const ObjectView& client, const VMClientFields&, const JobContext&);
/// Refuses the names of files if the owner denies access to them.
void refuse_vm_files(const ObjectView& client, const VMClientFields&, const JobContext&);
void put_vm_client(JobObject&, const ObjectView& client, const VMClientFields&, const JobContext&);

/// `proxy_client_config`, with both checks.
void check_vm_proxy(const ObjectView& proxy, const JobContext&);
/// `proxy_basic_auth` and others.
void put_vm_proxy(JobObject&, const ObjectView& proxy, const JobContext&);

/// The credentials of an endpoint, completed by its scrape class. Also Secrets come from the class.
class VMCredentials {
 public:
    VMCredentials(const ObjectView& endpoint, const ObjectView& scrape_class,
                  const JobContext& context);
    /// Refuses faults and absent Secrets, and files of the endpoint itself if the owner denies
    /// them.
    void check() const;
    void put(JobObject& job) const;

 private:
    ObjectView view() const { return {&merged_, own_.path(), context_.faults}; }

    const JobContext& context_;
    ObjectView own_;
    boost::json::value merged_;
};

}  // namespace k8s_sd::inline v0::detail
