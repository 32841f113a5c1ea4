// A host of the library; check_headers.py compiles each header with the options of this unit.
#include <k8s_sd/k8s_sd.hpp>
#include <k8s_sd/scrape/scrape.hpp>
