#include <k8s_sd/src.hpp>
