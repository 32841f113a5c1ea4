// Each fwd.hpp comes first, so that a declaration that contradicts its definition is an error.
#include <k8s_sd/fwd.hpp>
#include <k8s_sd/k8s_sd.hpp>
#include <k8s_sd/scrape/fwd.hpp>
#include <k8s_sd/scrape/scrape.hpp>
#include <k8s_sd/scrape/src.hpp>
