#pragma once

// The bodies of discovery and of the object cache, for hosts that link no library of ours: include
// this file in exactly one source file, and link the CMake target k8s_sd::headers.

#ifdef K8S_SD_SHARED
#error "k8s_sd/src.hpp: this program links the library; remove the include, or link k8s_sd::headers"
#endif

// base
#include "k8s_sd/detail/base/abi.ipp"
#include "k8s_sd/detail/base/access_rule.ipp"
#include "k8s_sd/detail/base/delivery.ipp"
#include "k8s_sd/detail/base/did_you_mean.ipp"
#include "k8s_sd/detail/base/error.ipp"
#include "k8s_sd/detail/base/logger.ipp"
#include "k8s_sd/detail/base/printable.ipp"
#include "k8s_sd/detail/base/seeded_hash.ipp"
#include "k8s_sd/detail/base/strand.ipp"

// labels
#include "k8s_sd/detail/labels/label_origin.ipp"
#include "k8s_sd/detail/labels/target_group.ipp"

// config
#include "k8s_sd/detail/config/api_server_lookup.ipp"
#include "k8s_sd/detail/config/complete_server.ipp"
#include "k8s_sd/detail/config/config_file.ipp"
#include "k8s_sd/detail/config/http_client_reader.ipp"
#include "k8s_sd/detail/config/kubeconfig.ipp"
#include "k8s_sd/detail/config/kubeconfig_entries.ipp"
#include "k8s_sd/detail/config/kubeconfig_exec.ipp"
#include "k8s_sd/detail/config/kubeconfig_user.ipp"
#include "k8s_sd/detail/config/proxy_choice.ipp"
#include "k8s_sd/detail/config/proxy_url.ipp"
#include "k8s_sd/detail/config/resolve.ipp"
#include "k8s_sd/detail/config/sd_config_reader.ipp"
#include "k8s_sd/detail/config/selector.ipp"
#include "k8s_sd/detail/config/server_url.ipp"
#include "k8s_sd/detail/config/simple_yaml.ipp"
#include "k8s_sd/detail/config/text_encoding.ipp"
#include "k8s_sd/detail/config/validate.ipp"
#include "k8s_sd/detail/config/validate_server.ipp"
#include "k8s_sd/detail/config/variables.ipp"
#include "k8s_sd/detail/config/yaml_document.ipp"
#include "k8s_sd/detail/config/yaml_json.ipp"
#include "k8s_sd/detail/config/yaml_value.ipp"

// net
#include "k8s_sd/detail/net/address_race.ipp"
#include "k8s_sd/detail/net/api_client.ipp"
#include "k8s_sd/detail/net/api_client_impl.ipp"
#include "k8s_sd/detail/net/api_documents.ipp"
#include "k8s_sd/detail/net/blocking_threads.ipp"
#include "k8s_sd/detail/net/byte_stream.ipp"
#include "k8s_sd/detail/net/channel.ipp"
#include "k8s_sd/detail/net/child_process.ipp"
#include "k8s_sd/detail/net/configured_credentials.ipp"
#include "k8s_sd/detail/net/connect_op.ipp"
#include "k8s_sd/detail/net/connect_targets.ipp"
#include "k8s_sd/detail/net/context_environment.ipp"
#include "k8s_sd/detail/net/credential_sources.ipp"
#include "k8s_sd/detail/net/credentials.ipp"
#include "k8s_sd/detail/net/exec_credential.ipp"
#include "k8s_sd/detail/net/exec_issuer.ipp"
#include "k8s_sd/detail/net/file_reader.ipp"
#include "k8s_sd/detail/net/file_reads.ipp"
#include "k8s_sd/detail/net/header_files.ipp"
#include "k8s_sd/detail/net/header_lines.ipp"
#include "k8s_sd/detail/net/host_token_issuer.ipp"
#include "k8s_sd/detail/net/http_connect.ipp"
#include "k8s_sd/detail/net/http_connection.ipp"
#include "k8s_sd/detail/net/kubeconfig_reload.ipp"
#include "k8s_sd/detail/net/late_answers.ipp"
#include "k8s_sd/detail/net/lookups.ipp"
#include "k8s_sd/detail/net/oauth2_issuer.ipp"
#include "k8s_sd/detail/net/proxy_dialog.ipp"
#include "k8s_sd/detail/net/proxy_target.ipp"
#include "k8s_sd/detail/net/redaction.ipp"
#include "k8s_sd/detail/net/renewed_credentials.ipp"
#include "k8s_sd/detail/net/secret_file.ipp"
#include "k8s_sd/detail/net/secret_texts.ipp"
#include "k8s_sd/detail/net/served_versions.ipp"
#include "k8s_sd/detail/net/server_traffic.ipp"
#include "k8s_sd/detail/net/shared_credentials.ipp"
#include "k8s_sd/detail/net/short_get.ipp"
#include "k8s_sd/detail/net/socks5.ipp"
#include "k8s_sd/detail/net/system_clock.ipp"
#include "k8s_sd/detail/net/system_connector.ipp"
#include "k8s_sd/detail/net/system_file_calls.ipp"
#include "k8s_sd/detail/net/system_program_runner.ipp"
#include "k8s_sd/detail/net/system_resolver.ipp"
#include "k8s_sd/detail/net/tls.ipp"
#include "k8s_sd/detail/net/tls_contexts.ipp"
#include "k8s_sd/detail/net/tls_peer.ipp"
#include "k8s_sd/detail/net/unreachable.ipp"

// codec
#include "k8s_sd/detail/codec/json_decoder.ipp"
#include "k8s_sd/detail/codec/json_status.ipp"
#include "k8s_sd/detail/codec/list_watch_reader.ipp"
#include "k8s_sd/detail/codec/make_decoder.ipp"

// kinds
#include "k8s_sd/detail/kinds/object_maker.ipp"
#include "k8s_sd/detail/kinds/schema.ipp"

// watch
#include "k8s_sd/detail/watch/failure.ipp"
#include "k8s_sd/detail/watch/outcome.ipp"
#include "k8s_sd/detail/watch/short_verdict.ipp"
#include "k8s_sd/detail/watch/url_watcher.ipp"
#include "k8s_sd/detail/watch/url_watcher_impl.ipp"
#include "k8s_sd/detail/watch/watch_report.ipp"
#include "k8s_sd/detail/watch/watch_request.ipp"

// groups
#include "k8s_sd/detail/groups/access_check.ipp"
#include "k8s_sd/detail/groups/group_registry.ipp"
#include "k8s_sd/detail/groups/group_watcher.ipp"
#include "k8s_sd/detail/groups/group_watcher_impl.ipp"
#include "k8s_sd/detail/groups/required_access.ipp"
#include "k8s_sd/detail/groups/role_groups.ipp"
#include "k8s_sd/detail/groups/watch_set.ipp"

// discovery
#include "k8s_sd/detail/discovery/discoverer.ipp"
#include "k8s_sd/detail/discovery/discovery_manager.ipp"
#include "k8s_sd/detail/discovery/job_state.ipp"

// cache
#include "k8s_sd/detail/cache/cache_collection.ipp"
#include "k8s_sd/detail/cache/cache_namespace.ipp"
#include "k8s_sd/detail/cache/cache_watch.ipp"
#include "k8s_sd/detail/cache/object_cache.ipp"
#include "k8s_sd/detail/cache/object_cache_impl.ipp"
#include "k8s_sd/detail/cache/reference_sets.ipp"
#include "k8s_sd/detail/cache/served_entries.ipp"
