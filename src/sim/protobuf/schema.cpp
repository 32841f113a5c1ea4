#include "sim/protobuf/schema.hpp"

#include <array>

/// The numbers are from the files generated.proto of Kubernetes 1.36. The Go types determine which
/// fields are pointers (when_set). Fields missing here are not sent.

namespace k8s_sd::inline v0::sim {
namespace schema {

constexpr Field text(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::text};
}
constexpr Field integer(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::integer};
}
constexpr Field boolean(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::boolean};
}
constexpr Field time(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::time};
}
constexpr Field quantity(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::quantity};
}
constexpr Field bytes(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::bytes};
}
constexpr Field int_or_string(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::int_or_string};
}
constexpr Field json(std::uint32_t number, std::string_view name) {
    return {number, name, FieldKind::json};
}
constexpr Field one(std::uint32_t number, std::string_view name, Message message) {
    return {number, name, FieldKind::message, Presence::always, message};
}
constexpr Field inlined(std::uint32_t number, Message message) {
    return {number, {}, FieldKind::message, Presence::inlined, message};
}
constexpr Field with(Field field, Presence presence) {
    field.presence = presence;
    return field;
}
constexpr Field optional(Field field) { return with(field, Presence::when_set); }
constexpr Field list(Field field) { return with(field, Presence::list); }
constexpr Field map(Field field) { return with(field, Presence::map); }
constexpr Field maybe(std::uint32_t number, std::string_view name, Message message) {
    return optional(one(number, name, message));
}
constexpr Field many(std::uint32_t number, std::string_view name, Message message) {
    return list(one(number, name, message));
}
constexpr Field texts(std::uint32_t number, std::string_view name) {
    return list(text(number, name));
}
constexpr Field text_map(std::uint32_t number, std::string_view name) {
    return map(text(number, name));
}
constexpr Field resources(std::uint32_t number, std::string_view name) {
    return map(quantity(number, name));
}

// ---- meta/v1 -----------------------------------------------------------------------------------

constexpr std::array owner_reference{
    text(1, "kind"),
    text(3, "name"),
    text(4, "uid"),
    text(5, "apiVersion"),
    optional(boolean(6, "controller")),
    optional(boolean(7, "blockOwnerDeletion")),
};
constexpr std::array managed_fields_entry{
    text(1, "manager"),        text(2, "operation"),  text(3, "apiVersion"),
    optional(time(4, "time")), text(6, "fieldsType"), optional(json(7, "fieldsV1")),
    text(8, "subresource"),
};
constexpr std::array object_meta{
    text(1, "name"),
    text(2, "generateName"),
    text(3, "namespace"),
    text(4, "selfLink"),
    text(5, "uid"),
    text(6, "resourceVersion"),
    integer(7, "generation"),
    time(8, "creationTimestamp"),
    optional(time(9, "deletionTimestamp")),
    optional(integer(10, "deletionGracePeriodSeconds")),
    text_map(11, "labels"),
    text_map(12, "annotations"),
    many(13, "ownerReferences", owner_reference),
    texts(14, "finalizers"),
    many(17, "managedFields", managed_fields_entry),
};
constexpr std::array shard_info{text(1, "selector")};
constexpr std::array list_meta{
    text(1, "selfLink"),
    text(2, "resourceVersion"),
    text(3, "continue"),
    optional(integer(4, "remainingItemCount")),
    maybe(5, "shardInfo", shard_info),
};
constexpr std::array status_cause{text(1, "reason"), text(2, "message"), text(3, "field")};
constexpr std::array status_details{
    text(1, "name"),
    text(2, "group"),
    text(3, "kind"),
    many(4, "causes", status_cause),
    integer(5, "retryAfterSeconds"),
    text(6, "uid"),
};
constexpr std::array status{
    one(1, "metadata", list_meta),       text(2, "status"),  text(3, "message"), text(4, "reason"),
    maybe(5, "details", status_details), integer(6, "code"),
};
constexpr std::array partial_metadata{one(1, "metadata", object_meta)};
constexpr std::array condition{
    text(1, "type"),
    text(2, "status"),
    integer(3, "observedGeneration"),
    time(4, "lastTransitionTime"),
    text(5, "reason"),
    text(6, "message"),
};
constexpr std::array label_requirement{text(1, "key"), text(2, "operator"), texts(3, "values")};
constexpr std::array label_selector{
    text_map(1, "matchLabels"),
    many(2, "matchExpressions", label_requirement),
};

// ---- core/v1: references -----------------------------------------------------------------------

constexpr std::array object_reference{
    text(1, "kind"),       text(2, "namespace"),       text(3, "name"),      text(4, "uid"),
    text(5, "apiVersion"), text(6, "resourceVersion"), text(7, "fieldPath"),
};
constexpr std::array local_object_reference{text(1, "name")};
constexpr std::array typed_local_object_reference{
    optional(text(1, "apiGroup")),
    text(2, "kind"),
    text(3, "name"),
};
constexpr std::array object_field_selector{text(1, "apiVersion"), text(2, "fieldPath")};
constexpr std::array resource_field_selector{
    text(1, "containerName"),
    text(2, "resource"),
    quantity(3, "divisor"),
};
constexpr std::array key_selector{
    inlined(1, local_object_reference),
    text(2, "key"),
    optional(boolean(3, "optional")),
};
constexpr std::array key_to_path{text(1, "key"), text(2, "path"), optional(integer(3, "mode"))};

// ---- core/v1: containers -----------------------------------------------------------------------

constexpr std::array container_port{
    text(1, "name"),     integer(2, "hostPort"), integer(3, "containerPort"),
    text(4, "protocol"), text(5, "hostIP"),
};
constexpr std::array env_var_source{
    maybe(1, "fieldRef", object_field_selector),
    maybe(2, "resourceFieldRef", resource_field_selector),
    maybe(3, "configMapKeyRef", key_selector),
    maybe(4, "secretKeyRef", key_selector),
};
constexpr std::array env_var{
    text(1, "name"),
    text(2, "value"),
    maybe(3, "valueFrom", env_var_source),
};
constexpr std::array env_reference{
    inlined(1, local_object_reference),
    optional(boolean(2, "optional")),
};
constexpr std::array env_from_source{
    text(1, "prefix"),
    maybe(2, "configMapRef", env_reference),
    maybe(3, "secretRef", env_reference),
};
constexpr std::array resource_claim_use{text(1, "name"), text(2, "request")};
constexpr std::array resource_requirements{
    resources(1, "limits"),
    resources(2, "requests"),
    many(3, "claims", resource_claim_use),
};
constexpr std::array volume_mount{
    text(1, "name"),
    boolean(2, "readOnly"),
    text(3, "mountPath"),
    text(4, "subPath"),
    optional(text(5, "mountPropagation")),
    text(6, "subPathExpr"),
    optional(text(7, "recursiveReadOnly")),
};
constexpr std::array volume_device{text(1, "name"), text(2, "devicePath")};
constexpr std::array exec_action{texts(1, "command")};
constexpr std::array http_header{text(1, "name"), text(2, "value")};
constexpr std::array http_get_action{
    text(1, "path"),
    int_or_string(2, "port"),
    text(3, "host"),
    text(4, "scheme"),
    many(5, "httpHeaders", http_header),
};
constexpr std::array tcp_socket_action{int_or_string(1, "port"), text(2, "host")};
constexpr std::array grpc_action{integer(1, "port"), optional(text(2, "service"))};
constexpr std::array sleep_action{integer(1, "seconds")};
constexpr std::array probe_handler{
    maybe(1, "exec", exec_action),
    maybe(2, "httpGet", http_get_action),
    maybe(3, "tcpSocket", tcp_socket_action),
    maybe(4, "grpc", grpc_action),
};
constexpr std::array probe{
    inlined(1, probe_handler),
    integer(2, "initialDelaySeconds"),
    integer(3, "timeoutSeconds"),
    integer(4, "periodSeconds"),
    integer(5, "successThreshold"),
    integer(6, "failureThreshold"),
    optional(integer(7, "terminationGracePeriodSeconds")),
};
constexpr std::array lifecycle_handler{
    maybe(1, "exec", exec_action),
    maybe(2, "httpGet", http_get_action),
    maybe(3, "tcpSocket", tcp_socket_action),
    maybe(4, "sleep", sleep_action),
};
constexpr std::array lifecycle{
    maybe(1, "postStart", lifecycle_handler),
    maybe(2, "preStop", lifecycle_handler),
    optional(text(3, "stopSignal")),
};
constexpr std::array capabilities{texts(1, "add"), texts(2, "drop")};
constexpr std::array selinux_options{
    text(1, "user"),
    text(2, "role"),
    text(3, "type"),
    text(4, "level"),
};
constexpr std::array security_profile{text(1, "type"), optional(text(2, "localhostProfile"))};
constexpr std::array security_context{
    maybe(1, "capabilities", capabilities),
    optional(boolean(2, "privileged")),
    maybe(3, "seLinuxOptions", selinux_options),
    optional(integer(4, "runAsUser")),
    optional(boolean(5, "runAsNonRoot")),
    optional(boolean(6, "readOnlyRootFilesystem")),
    optional(boolean(7, "allowPrivilegeEscalation")),
    optional(integer(8, "runAsGroup")),
    optional(text(9, "procMount")),
    maybe(11, "seccompProfile", security_profile),
    maybe(12, "appArmorProfile", security_profile),
};
constexpr std::array resize_policy{text(1, "resourceName"), text(2, "restartPolicy")};
constexpr std::array container{
    text(1, "name"),
    text(2, "image"),
    texts(3, "command"),
    texts(4, "args"),
    text(5, "workingDir"),
    many(6, "ports", container_port),
    many(7, "env", env_var),
    one(8, "resources", resource_requirements),
    many(9, "volumeMounts", volume_mount),
    maybe(10, "livenessProbe", probe),
    maybe(11, "readinessProbe", probe),
    maybe(12, "lifecycle", lifecycle),
    text(13, "terminationMessagePath"),
    text(14, "imagePullPolicy"),
    maybe(15, "securityContext", security_context),
    boolean(16, "stdin"),
    boolean(17, "stdinOnce"),
    boolean(18, "tty"),
    many(19, "envFrom", env_from_source),
    text(20, "terminationMessagePolicy"),
    many(21, "volumeDevices", volume_device),
    maybe(22, "startupProbe", probe),
    many(23, "resizePolicy", resize_policy),
    optional(text(24, "restartPolicy")),
};
constexpr std::array ephemeral_container{
    inlined(1, container),
    text(2, "targetContainerName"),
};

// ---- core/v1: volumes --------------------------------------------------------------------------

constexpr std::array host_path_volume{text(1, "path"), optional(text(2, "type"))};
constexpr std::array empty_dir_volume{text(1, "medium"), optional(quantity(2, "sizeLimit"))};
constexpr std::array secret_volume{
    text(1, "secretName"),
    many(2, "items", key_to_path),
    optional(integer(3, "defaultMode")),
    optional(boolean(4, "optional")),
};
constexpr std::array claim_volume{text(1, "claimName"), boolean(2, "readOnly")};
constexpr std::array config_map_volume{
    inlined(1, local_object_reference),
    many(2, "items", key_to_path),
    optional(integer(3, "defaultMode")),
    optional(boolean(4, "optional")),
};
constexpr std::array downward_api_file{
    text(1, "path"),
    maybe(2, "fieldRef", object_field_selector),
    maybe(3, "resourceFieldRef", resource_field_selector),
    optional(integer(4, "mode")),
};
constexpr std::array downward_api_volume{
    many(1, "items", downward_api_file),
    optional(integer(2, "defaultMode")),
};
constexpr std::array downward_api_projection{many(1, "items", downward_api_file)};
/// Projection of a Secret or ConfigMap.
constexpr std::array data_projection{
    inlined(1, local_object_reference),
    many(2, "items", key_to_path),
    optional(boolean(4, "optional")),
};
constexpr std::array service_account_token_projection{
    text(1, "audience"),
    optional(integer(2, "expirationSeconds")),
    text(3, "path"),
};
constexpr std::array volume_projection{
    maybe(1, "secret", data_projection),
    maybe(2, "downwardAPI", downward_api_projection),
    maybe(3, "configMap", data_projection),
    maybe(4, "serviceAccountToken", service_account_token_projection),
};
constexpr std::array projected_volume{
    many(1, "sources", volume_projection),
    optional(integer(2, "defaultMode")),
};
constexpr std::array csi_volume{
    text(1, "driver"),
    optional(boolean(2, "readOnly")),
    optional(text(3, "fsType")),
    text_map(4, "volumeAttributes"),
    maybe(5, "nodePublishSecretRef", local_object_reference),
};
constexpr std::array volume_source{
    maybe(1, "hostPath", host_path_volume),
    maybe(2, "emptyDir", empty_dir_volume),
    maybe(6, "secret", secret_volume),
    maybe(10, "persistentVolumeClaim", claim_volume),
    maybe(16, "downwardAPI", downward_api_volume),
    maybe(19, "configMap", config_map_volume),
    maybe(26, "projected", projected_volume),
    maybe(28, "csi", csi_volume),
};
constexpr std::array volume{text(1, "name"), inlined(2, volume_source)};

// ---- core/v1: Pod ------------------------------------------------------------------------------

constexpr std::array toleration{
    text(1, "key"),
    text(2, "operator"),
    text(3, "value"),
    text(4, "effect"),
    optional(integer(5, "tolerationSeconds")),
};
constexpr std::array pod_security_context{
    maybe(1, "seLinuxOptions", selinux_options),
    optional(integer(2, "runAsUser")),
    optional(boolean(3, "runAsNonRoot")),
    list(integer(4, "supplementalGroups")),
    optional(integer(5, "fsGroup")),
    optional(integer(6, "runAsGroup")),
    optional(text(9, "fsGroupChangePolicy")),
    maybe(10, "seccompProfile", security_profile),
    maybe(11, "appArmorProfile", security_profile),
    optional(text(12, "supplementalGroupsPolicy")),
};
constexpr std::array node_selector_requirement{
    text(1, "key"),
    text(2, "operator"),
    texts(3, "values"),
};
constexpr std::array node_selector_term{
    many(1, "matchExpressions", node_selector_requirement),
    many(2, "matchFields", node_selector_requirement),
};
constexpr std::array node_selector{many(1, "nodeSelectorTerms", node_selector_term)};
constexpr std::array preferred_scheduling_term{
    integer(1, "weight"),
    one(2, "preference", node_selector_term),
};
constexpr std::array node_affinity{
    maybe(1, "requiredDuringSchedulingIgnoredDuringExecution", node_selector),
    many(2, "preferredDuringSchedulingIgnoredDuringExecution", preferred_scheduling_term),
};
constexpr std::array pod_affinity_term{
    maybe(1, "labelSelector", label_selector),
    texts(2, "namespaces"),
    text(3, "topologyKey"),
    maybe(4, "namespaceSelector", label_selector),
    texts(5, "matchLabelKeys"),
    texts(6, "mismatchLabelKeys"),
};
constexpr std::array weighted_pod_affinity_term{
    integer(1, "weight"),
    one(2, "podAffinityTerm", pod_affinity_term),
};
constexpr std::array pod_affinity{
    many(1, "requiredDuringSchedulingIgnoredDuringExecution", pod_affinity_term),
    many(2, "preferredDuringSchedulingIgnoredDuringExecution", weighted_pod_affinity_term),
};
constexpr std::array affinity{
    maybe(1, "nodeAffinity", node_affinity),
    maybe(2, "podAffinity", pod_affinity),
    maybe(3, "podAntiAffinity", pod_affinity),
};
constexpr std::array host_alias{text(1, "ip"), texts(2, "hostnames")};
constexpr std::array dns_config_option{text(1, "name"), optional(text(2, "value"))};
constexpr std::array dns_config{
    texts(1, "nameservers"),
    texts(2, "searches"),
    many(3, "options", dns_config_option),
};
constexpr std::array readiness_gate{text(1, "conditionType")};
constexpr std::array topology_spread_constraint{
    integer(1, "maxSkew"),
    text(2, "topologyKey"),
    text(3, "whenUnsatisfiable"),
    maybe(4, "labelSelector", label_selector),
    optional(integer(5, "minDomains")),
    optional(text(6, "nodeAffinityPolicy")),
    optional(text(7, "nodeTaintsPolicy")),
    texts(8, "matchLabelKeys"),
};
constexpr std::array pod_os{text(1, "name")};
constexpr std::array scheduling_gate{text(1, "name")};
constexpr std::array pod_spec{
    many(1, "volumes", volume),
    many(2, "containers", container),
    text(3, "restartPolicy"),
    optional(integer(4, "terminationGracePeriodSeconds")),
    optional(integer(5, "activeDeadlineSeconds")),
    text(6, "dnsPolicy"),
    text_map(7, "nodeSelector"),
    text(8, "serviceAccountName"),
    text(9, "serviceAccount"),
    text(10, "nodeName"),
    boolean(11, "hostNetwork"),
    boolean(12, "hostPID"),
    boolean(13, "hostIPC"),
    maybe(14, "securityContext", pod_security_context),
    many(15, "imagePullSecrets", local_object_reference),
    text(16, "hostname"),
    text(17, "subdomain"),
    maybe(18, "affinity", affinity),
    text(19, "schedulerName"),
    many(20, "initContainers", container),
    optional(boolean(21, "automountServiceAccountToken")),
    many(22, "tolerations", toleration),
    many(23, "hostAliases", host_alias),
    text(24, "priorityClassName"),
    optional(integer(25, "priority")),
    maybe(26, "dnsConfig", dns_config),
    optional(boolean(27, "shareProcessNamespace")),
    many(28, "readinessGates", readiness_gate),
    optional(text(29, "runtimeClassName")),
    optional(boolean(30, "enableServiceLinks")),
    optional(text(31, "preemptionPolicy")),
    resources(32, "overhead"),
    many(33, "topologySpreadConstraints", topology_spread_constraint),
    many(34, "ephemeralContainers", ephemeral_container),
    optional(boolean(35, "setHostnameAsFQDN")),
    maybe(36, "os", pod_os),
    optional(boolean(37, "hostUsers")),
    many(38, "schedulingGates", scheduling_gate),
    maybe(40, "resources", resource_requirements),
    optional(text(41, "hostnameOverride")),
};
constexpr std::array pod_condition{
    text(1, "type"),
    text(2, "status"),
    time(3, "lastProbeTime"),
    time(4, "lastTransitionTime"),
    text(5, "reason"),
    text(6, "message"),
    integer(7, "observedGeneration"),
};
constexpr std::array container_waiting{text(1, "reason"), text(2, "message")};
constexpr std::array container_running{time(1, "startedAt")};
constexpr std::array container_terminated{
    integer(1, "exitCode"), integer(2, "signal"),  text(3, "reason"),      text(4, "message"),
    time(5, "startedAt"),   time(6, "finishedAt"), text(7, "containerID"),
};
constexpr std::array container_state{
    maybe(1, "waiting", container_waiting),
    maybe(2, "running", container_running),
    maybe(3, "terminated", container_terminated),
};
constexpr std::array volume_mount_status{
    text(1, "name"),
    text(2, "mountPath"),
    boolean(3, "readOnly"),
    optional(text(4, "recursiveReadOnly")),
};
constexpr std::array container_status{
    text(1, "name"),
    one(2, "state", container_state),
    one(3, "lastState", container_state),
    boolean(4, "ready"),
    integer(5, "restartCount"),
    text(6, "image"),
    text(7, "imageID"),
    text(8, "containerID"),
    optional(boolean(9, "started")),
    resources(10, "allocatedResources"),
    maybe(11, "resources", resource_requirements),
    many(12, "volumeMounts", volume_mount_status),
    optional(text(15, "stopSignal")),
};
constexpr std::array ip_address{text(1, "ip")};
constexpr std::array pod_status{
    text(1, "phase"),
    many(2, "conditions", pod_condition),
    text(3, "message"),
    text(4, "reason"),
    text(5, "hostIP"),
    text(6, "podIP"),
    optional(time(7, "startTime")),
    many(8, "containerStatuses", container_status),
    text(9, "qosClass"),
    many(10, "initContainerStatuses", container_status),
    text(11, "nominatedNodeName"),
    many(12, "podIPs", ip_address),
    many(13, "ephemeralContainerStatuses", container_status),
    text(14, "resize"),
    many(16, "hostIPs", ip_address),
    integer(17, "observedGeneration"),
};
constexpr std::array pod{
    one(1, "metadata", object_meta),
    one(2, "spec", pod_spec),
    one(3, "status", pod_status),
};
constexpr std::array pod_template_spec{
    one(1, "metadata", object_meta),
    one(2, "spec", pod_spec),
};

// ---- core/v1: Node -----------------------------------------------------------------------------

constexpr std::array taint{
    text(1, "key"),
    text(2, "value"),
    text(3, "effect"),
    optional(time(4, "timeAdded")),
};
constexpr std::array node_spec{
    text(1, "podCIDR"),          text(2, "externalID"),    text(3, "providerID"),
    boolean(4, "unschedulable"), many(5, "taints", taint), texts(7, "podCIDRs"),
};
constexpr std::array node_condition{
    text(1, "type"),
    text(2, "status"),
    time(3, "lastHeartbeatTime"),
    time(4, "lastTransitionTime"),
    text(5, "reason"),
    text(6, "message"),
};
constexpr std::array node_address{text(1, "type"), text(2, "address")};
constexpr std::array daemon_endpoint{integer(1, "Port")};
constexpr std::array node_daemon_endpoints{one(1, "kubeletEndpoint", daemon_endpoint)};
constexpr std::array node_swap{optional(integer(1, "capacity"))};
constexpr std::array node_system_info{
    text(1, "machineID"),      text(2, "systemUUID"),        text(3, "bootID"),
    text(4, "kernelVersion"),  text(5, "osImage"),           text(6, "containerRuntimeVersion"),
    text(7, "kubeletVersion"), text(8, "kubeProxyVersion"),  text(9, "operatingSystem"),
    text(10, "architecture"),  maybe(11, "swap", node_swap),
};
constexpr std::array container_image{texts(1, "names"), integer(2, "sizeBytes")};
constexpr std::array attached_volume{text(1, "name"), text(2, "devicePath")};
constexpr std::array runtime_handler_features{
    optional(boolean(1, "recursiveReadOnlyMounts")),
    optional(boolean(2, "userNamespaces")),
};
constexpr std::array runtime_handler{
    text(1, "name"),
    maybe(2, "features", runtime_handler_features),
};
constexpr std::array node_features{optional(boolean(1, "supplementalGroupsPolicy"))};
constexpr std::array node_status{
    resources(1, "capacity"),
    resources(2, "allocatable"),
    text(3, "phase"),
    many(4, "conditions", node_condition),
    many(5, "addresses", node_address),
    one(6, "daemonEndpoints", node_daemon_endpoints),
    one(7, "nodeInfo", node_system_info),
    many(8, "images", container_image),
    texts(9, "volumesInUse"),
    many(10, "volumesAttached", attached_volume),
    many(12, "runtimeHandlers", runtime_handler),
    maybe(13, "features", node_features),
    texts(14, "declaredFeatures"),
};
constexpr std::array node{
    one(1, "metadata", object_meta),
    one(2, "spec", node_spec),
    one(3, "status", node_status),
};

// ---- core/v1: Service, Endpoints, Namespace, ConfigMap, Secret --------------------------------

constexpr std::array service_port{
    text(1, "name"),        text(2, "protocol"),
    integer(3, "port"),     int_or_string(4, "targetPort"),
    integer(5, "nodePort"), optional(text(6, "appProtocol")),
};
constexpr std::array client_ip_config{optional(integer(1, "timeoutSeconds"))};
constexpr std::array session_affinity_config{maybe(1, "clientIP", client_ip_config)};
constexpr std::array service_spec{
    many(1, "ports", service_port),
    text_map(2, "selector"),
    text(3, "clusterIP"),
    text(4, "type"),
    texts(5, "externalIPs"),
    text(7, "sessionAffinity"),
    text(8, "loadBalancerIP"),
    texts(9, "loadBalancerSourceRanges"),
    text(10, "externalName"),
    text(11, "externalTrafficPolicy"),
    integer(12, "healthCheckNodePort"),
    boolean(13, "publishNotReadyAddresses"),
    maybe(14, "sessionAffinityConfig", session_affinity_config),
    optional(text(17, "ipFamilyPolicy")),
    texts(18, "clusterIPs"),
    texts(19, "ipFamilies"),
    optional(boolean(20, "allocateLoadBalancerNodePorts")),
    optional(text(21, "loadBalancerClass")),
    optional(text(22, "internalTrafficPolicy")),
    optional(text(23, "trafficDistribution")),
};
/// Port status of a load balancer.
constexpr std::array port_status{
    integer(1, "port"),
    text(2, "protocol"),
    optional(text(3, "error")),
};
constexpr std::array load_balancer_ingress{
    text(1, "ip"),
    text(2, "hostname"),
    optional(text(3, "ipMode")),
    many(4, "ports", port_status),
};
constexpr std::array load_balancer_status{many(1, "ingress", load_balancer_ingress)};
constexpr std::array service_status{
    one(1, "loadBalancer", load_balancer_status),
    many(2, "conditions", condition),
};
constexpr std::array service{
    one(1, "metadata", object_meta),
    one(2, "spec", service_spec),
    one(3, "status", service_status),
};
constexpr std::array endpoint_address{
    text(1, "ip"),
    maybe(2, "targetRef", object_reference),
    text(3, "hostname"),
    optional(text(4, "nodeName")),
};
constexpr std::array core_endpoint_port{
    text(1, "name"),
    integer(2, "port"),
    text(3, "protocol"),
    optional(text(4, "appProtocol")),
};
constexpr std::array endpoint_subset{
    many(1, "addresses", endpoint_address),
    many(2, "notReadyAddresses", endpoint_address),
    many(3, "ports", core_endpoint_port),
};
constexpr std::array endpoints{
    one(1, "metadata", object_meta),
    many(2, "subsets", endpoint_subset),
};
constexpr std::array namespace_condition{
    text(1, "type"),   text(2, "status"),  time(4, "lastTransitionTime"),
    text(5, "reason"), text(6, "message"),
};
constexpr std::array namespace_spec{texts(1, "finalizers")};
constexpr std::array namespace_status{
    text(1, "phase"),
    many(2, "conditions", namespace_condition),
};
constexpr std::array cluster_namespace{
    one(1, "metadata", object_meta),
    one(2, "spec", namespace_spec),
    one(3, "status", namespace_status),
};
constexpr std::array config_map{
    one(1, "metadata", object_meta),
    text_map(2, "data"),
    map(bytes(3, "binaryData")),
    optional(boolean(4, "immutable")),
};
constexpr std::array secret{
    one(1, "metadata", object_meta),
    map(bytes(2, "data")),
    text(3, "type"),
    text_map(4, "stringData"),
    optional(boolean(5, "immutable")),
};

// ---- discovery.k8s.io --------------------------------------------------------------------------

constexpr std::array endpoint_conditions{
    optional(boolean(1, "ready")),
    optional(boolean(2, "serving")),
    optional(boolean(3, "terminating")),
};
constexpr std::array named_topology{text(1, "name")};
constexpr std::array endpoint_hints{
    many(1, "forZones", named_topology),
    many(2, "forNodes", named_topology),
};
constexpr std::array endpoint{
    texts(1, "addresses"),
    one(2, "conditions", endpoint_conditions),
    optional(text(3, "hostname")),
    maybe(4, "targetRef", object_reference),
    text_map(5, "deprecatedTopology"),
    optional(text(6, "nodeName")),
    optional(text(7, "zone")),
    maybe(8, "hints", endpoint_hints),
};
/// v1beta1 has the old name of the topology, and another number for the hints.
constexpr std::array endpoint_v1beta1{
    texts(1, "addresses"),
    one(2, "conditions", endpoint_conditions),
    optional(text(3, "hostname")),
    maybe(4, "targetRef", object_reference),
    text_map(5, "topology"),
    optional(text(6, "nodeName")),
    maybe(7, "hints", endpoint_hints),
};
constexpr std::array slice_port{
    optional(text(1, "name")),
    optional(text(2, "protocol")),
    optional(integer(3, "port")),
    optional(text(4, "appProtocol")),
};
constexpr std::array endpoint_slice{
    one(1, "metadata", object_meta),
    many(2, "endpoints", endpoint),
    many(3, "ports", slice_port),
    text(4, "addressType"),
};
constexpr std::array endpoint_slice_v1beta1{
    one(1, "metadata", object_meta),
    many(2, "endpoints", endpoint_v1beta1),
    many(3, "ports", slice_port),
    text(4, "addressType"),
};

// ---- networking.k8s.io -------------------------------------------------------------------------

constexpr std::array service_backend_port{text(1, "name"), integer(2, "number")};
constexpr std::array ingress_service_backend{
    text(1, "name"),
    one(2, "port", service_backend_port),
};
constexpr std::array ingress_backend{
    maybe(3, "resource", typed_local_object_reference),
    maybe(4, "service", ingress_service_backend),
};
constexpr std::array http_ingress_path{
    text(1, "path"),
    one(2, "backend", ingress_backend),
    optional(text(3, "pathType")),
};
constexpr std::array http_ingress_rule{many(1, "paths", http_ingress_path)};
constexpr std::array ingress_rule_value{maybe(1, "http", http_ingress_rule)};
constexpr std::array ingress_rule{text(1, "host"), inlined(2, ingress_rule_value)};
constexpr std::array ingress_tls{texts(1, "hosts"), text(2, "secretName")};
constexpr std::array ingress_spec{
    maybe(1, "defaultBackend", ingress_backend),
    many(2, "tls", ingress_tls),
    many(3, "rules", ingress_rule),
    optional(text(4, "ingressClassName")),
};
constexpr std::array ingress_load_balancer_ingress{
    text(1, "ip"),
    text(2, "hostname"),
    many(4, "ports", port_status),
};
constexpr std::array ingress_load_balancer{many(1, "ingress", ingress_load_balancer_ingress)};
constexpr std::array ingress_status{one(1, "loadBalancer", ingress_load_balancer)};
constexpr std::array ingress{
    one(1, "metadata", object_meta),
    one(2, "spec", ingress_spec),
    one(3, "status", ingress_status),
};
constexpr std::array network_policy_port{
    optional(text(1, "protocol")),
    optional(int_or_string(2, "port")),
    optional(integer(3, "endPort")),
};
constexpr std::array ip_block{text(1, "cidr"), texts(2, "except")};
constexpr std::array network_policy_peer{
    maybe(1, "podSelector", label_selector),
    maybe(2, "namespaceSelector", label_selector),
    maybe(3, "ipBlock", ip_block),
};
constexpr std::array network_policy_ingress{
    many(1, "ports", network_policy_port),
    many(2, "from", network_policy_peer),
};
constexpr std::array network_policy_egress{
    many(1, "ports", network_policy_port),
    many(2, "to", network_policy_peer),
};
constexpr std::array network_policy_spec{
    one(1, "podSelector", label_selector),
    many(2, "ingress", network_policy_ingress),
    many(3, "egress", network_policy_egress),
    texts(4, "policyTypes"),
};
constexpr std::array network_policy{
    one(1, "metadata", object_meta),
    one(2, "spec", network_policy_spec),
};

// ---- apps/v1 -----------------------------------------------------------------------------------

constexpr std::array workload_condition{
    text(1, "type"),   text(2, "status"),  time(3, "lastTransitionTime"),
    text(4, "reason"), text(5, "message"),
};
constexpr std::array rolling_update{
    optional(int_or_string(1, "maxUnavailable")),
    optional(int_or_string(2, "maxSurge")),
};
/// Update strategy of a Deployment or DaemonSet.
constexpr std::array update_strategy{
    text(1, "type"),
    maybe(2, "rollingUpdate", rolling_update),
};
constexpr std::array deployment_spec{
    optional(integer(1, "replicas")),
    maybe(2, "selector", label_selector),
    one(3, "template", pod_template_spec),
    one(4, "strategy", update_strategy),
    integer(5, "minReadySeconds"),
    optional(integer(6, "revisionHistoryLimit")),
    boolean(7, "paused"),
    optional(integer(9, "progressDeadlineSeconds")),
};
constexpr std::array deployment_condition{
    text(1, "type"),    text(2, "status"),         text(4, "reason"),
    text(5, "message"), time(6, "lastUpdateTime"), time(7, "lastTransitionTime"),
};
constexpr std::array deployment_status{
    integer(1, "observedGeneration"),
    integer(2, "replicas"),
    integer(3, "updatedReplicas"),
    integer(4, "availableReplicas"),
    integer(5, "unavailableReplicas"),
    many(6, "conditions", deployment_condition),
    integer(7, "readyReplicas"),
    optional(integer(8, "collisionCount")),
    optional(integer(9, "terminatingReplicas")),
};
constexpr std::array deployment{
    one(1, "metadata", object_meta),
    one(2, "spec", deployment_spec),
    one(3, "status", deployment_status),
};
constexpr std::array replica_set_spec{
    optional(integer(1, "replicas")),
    maybe(2, "selector", label_selector),
    one(3, "template", pod_template_spec),
    integer(4, "minReadySeconds"),
};
constexpr std::array replica_set_status{
    integer(1, "replicas"),
    integer(2, "fullyLabeledReplicas"),
    integer(3, "observedGeneration"),
    integer(4, "readyReplicas"),
    integer(5, "availableReplicas"),
    many(6, "conditions", workload_condition),
    optional(integer(7, "terminatingReplicas")),
};
constexpr std::array replica_set{
    one(1, "metadata", object_meta),
    one(2, "spec", replica_set_spec),
    one(3, "status", replica_set_status),
};
constexpr std::array stateful_set_rolling_update{
    optional(integer(1, "partition")),
    optional(int_or_string(2, "maxUnavailable")),
};
constexpr std::array stateful_set_update_strategy{
    text(1, "type"),
    maybe(2, "rollingUpdate", stateful_set_rolling_update),
};
constexpr std::array stateful_set_spec{
    optional(integer(1, "replicas")),
    maybe(2, "selector", label_selector),
    one(3, "template", pod_template_spec),
    text(5, "serviceName"),
    text(6, "podManagementPolicy"),
    one(7, "updateStrategy", stateful_set_update_strategy),
    optional(integer(8, "revisionHistoryLimit")),
    integer(9, "minReadySeconds"),
};
constexpr std::array stateful_set_status{
    integer(1, "observedGeneration"),
    integer(2, "replicas"),
    integer(3, "readyReplicas"),
    integer(4, "currentReplicas"),
    integer(5, "updatedReplicas"),
    text(6, "currentRevision"),
    text(7, "updateRevision"),
    optional(integer(9, "collisionCount")),
    many(10, "conditions", workload_condition),
    integer(11, "availableReplicas"),
};
constexpr std::array stateful_set{
    one(1, "metadata", object_meta),
    one(2, "spec", stateful_set_spec),
    one(3, "status", stateful_set_status),
};
constexpr std::array daemon_set_spec{
    maybe(1, "selector", label_selector),         one(2, "template", pod_template_spec),
    one(3, "updateStrategy", update_strategy),    integer(4, "minReadySeconds"),
    optional(integer(6, "revisionHistoryLimit")),
};
constexpr std::array daemon_set_status{
    integer(1, "currentNumberScheduled"),   integer(2, "numberMisscheduled"),
    integer(3, "desiredNumberScheduled"),   integer(4, "numberReady"),
    integer(5, "observedGeneration"),       integer(6, "updatedNumberScheduled"),
    integer(7, "numberAvailable"),          integer(8, "numberUnavailable"),
    optional(integer(9, "collisionCount")), many(10, "conditions", workload_condition),
};
constexpr std::array daemon_set{
    one(1, "metadata", object_meta),
    one(2, "spec", daemon_set_spec),
    one(3, "status", daemon_set_status),
};

// ---- batch/v1 ----------------------------------------------------------------------------------

constexpr std::array job_spec{
    optional(integer(1, "parallelism")),           optional(integer(2, "completions")),
    optional(integer(3, "activeDeadlineSeconds")), maybe(4, "selector", label_selector),
    optional(boolean(5, "manualSelector")),        one(6, "template", pod_template_spec),
    optional(integer(7, "backoffLimit")),          optional(integer(8, "ttlSecondsAfterFinished")),
    optional(text(9, "completionMode")),           optional(boolean(10, "suspend")),
    optional(integer(12, "backoffLimitPerIndex")), optional(integer(13, "maxFailedIndexes")),
    optional(text(14, "podReplacementPolicy")),    optional(text(15, "managedBy")),
};
constexpr std::array job_condition{
    text(1, "type"),   text(2, "status"),  time(3, "lastProbeTime"), time(4, "lastTransitionTime"),
    text(5, "reason"), text(6, "message"),
};
constexpr std::array uncounted_terminated_pods{texts(1, "succeeded"), texts(2, "failed")};
constexpr std::array job_status{
    many(1, "conditions", job_condition),
    optional(time(2, "startTime")),
    optional(time(3, "completionTime")),
    integer(4, "active"),
    integer(5, "succeeded"),
    integer(6, "failed"),
    text(7, "completedIndexes"),
    maybe(8, "uncountedTerminatedPods", uncounted_terminated_pods),
    optional(integer(9, "ready")),
    optional(text(10, "failedIndexes")),
    optional(integer(11, "terminating")),
};
constexpr std::array job{
    one(1, "metadata", object_meta),
    one(2, "spec", job_spec),
    one(3, "status", job_status),
};
constexpr std::array job_template_spec{
    one(1, "metadata", object_meta),
    one(2, "spec", job_spec),
};
constexpr std::array cron_job_spec{
    text(1, "schedule"),
    optional(integer(2, "startingDeadlineSeconds")),
    text(3, "concurrencyPolicy"),
    optional(boolean(4, "suspend")),
    one(5, "jobTemplate", job_template_spec),
    optional(integer(6, "successfulJobsHistoryLimit")),
    optional(integer(7, "failedJobsHistoryLimit")),
    optional(text(8, "timeZone")),
};
constexpr std::array cron_job_status{
    many(1, "active", object_reference),
    optional(time(4, "lastScheduleTime")),
    optional(time(5, "lastSuccessfulTime")),
};
constexpr std::array cron_job{
    one(1, "metadata", object_meta),
    one(2, "spec", cron_job_spec),
    one(3, "status", cron_job_status),
};

constexpr std::array lease_spec{
    optional(text(1, "holderIdentity")),      optional(integer(2, "leaseDurationSeconds")),
    optional(time(3, "acquireTime")),         optional(time(4, "renewTime")),
    optional(integer(5, "leaseTransitions")), optional(text(6, "strategy")),
    optional(text(7, "preferredHolder")),
};
constexpr std::array lease{one(1, "metadata", object_meta), one(2, "spec", lease_spec)};

struct NamedMessage {
    std::string_view kind;
    Message message;
};
constexpr NamedMessage messages[] = {
    {"ConfigMap", config_map},
    {"CronJob", cron_job},
    {"DaemonSet", daemon_set},
    {"Deployment", deployment},
    {"EndpointSlice", endpoint_slice},
    {"Endpoints", endpoints},
    {"Ingress", ingress},
    {"Job", job},
    {"Lease", lease},
    {"Namespace", cluster_namespace},
    {"NetworkPolicy", network_policy},
    {"Node", node},
    {"Pod", pod},
    {"ReplicaSet", replica_set},
    {"Secret", secret},
    {"Service", service},
    {"StatefulSet", stateful_set},
    {"Status", status},
};

}  // namespace schema

Message find_message(std::string_view version, std::string_view kind) {
    if (version == "v1beta1" && kind == "EndpointSlice") return schema::endpoint_slice_v1beta1;
    for (const schema::NamedMessage& named : schema::messages) {
        if (named.kind == kind) return named.message;
    }
    return {};
}

Message partial_metadata_message() { return schema::partial_metadata; }
Message list_meta_message() { return schema::list_meta; }

}  // namespace k8s_sd::inline v0::sim
