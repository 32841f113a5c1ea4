#pragma once

// Includes the structs of all kinds.

#include "k8s_sd/api/config_map.hpp"
#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/api/endpoints.hpp"
#include "k8s_sd/api/gateway.hpp"
#include "k8s_sd/api/grpc_route.hpp"
#include "k8s_sd/api/http_route.hpp"
#include "k8s_sd/api/ingress.hpp"
#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/api/node.hpp"
#include "k8s_sd/api/owners.hpp"
#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/api/route.hpp"
#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/api/service.hpp"
#include "k8s_sd/api/tls_route.hpp"
