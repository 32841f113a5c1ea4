#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <optional>

/// Settings of HTTP clients: credentials and proxies.
namespace k8s_sd::inline v0::detail {

/// Refuse contradictions and absent Secrets.
void check_basic_auth(const ObjectView& basic_auth, const JobContext&);
void check_authorization(const ObjectView& authorization, const JobContext&);
void check_oauth2(const ObjectView& oauth2, const JobContext&);
void check_proxy(const ObjectView& settings, const JobContext&);
/// Of ServiceMonitors and PodMonitors: two ways to authenticate, and an `authorization` without
/// credentials.
void check_single_authentication(const ObjectView& endpoint);
/// Refuses a URL that Go cannot parse.
void check_url(const ObjectView& url);

void put_basic_auth(JobObject&, const ObjectView& basic_auth, const JobContext&);
/// \param of_class  `authorization` of the scrape class, absent if none
void put_authorization(JobObject&, const ObjectView& authorization, const ObjectView& of_class,
                       const JobContext&);
void put_oauth2(JobObject&, const ObjectView& oauth2, const JobContext&);
void put_proxy(JobObject&, const ObjectView& settings, const JobContext&);
/// `bearer_token` of a reference to a Secret; only if it has a value.
void put_bearer_token(JobObject&, const ObjectView& secret, const JobContext&);

/// `follow_redirects` and HTTP/2.
/// \param http2_key  the CRDs spell it `enableHttp2` or `enableHTTP2`
void put_redirects_and_http2(JobObject&, const ObjectView& settings, std::string_view http2_key,
                             const JobContext&);

}  // namespace k8s_sd::inline v0::detail
