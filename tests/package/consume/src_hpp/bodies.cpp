// Each fwd.hpp comes first, so that a declaration that differs from its definition is noticed.
#include <k8s_sd/fwd.hpp>
#include <k8s_sd/k8s_sd.hpp>
#include <k8s_sd/scrape/fwd.hpp>
#include <k8s_sd/scrape/scrape.hpp>
#include <k8s_sd/scrape/src.hpp>
