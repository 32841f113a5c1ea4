#pragma once

// The function bodies of relabelling and scraping, for hosts without a linked k8s_sd library:
// include this file after k8s_sd/src.hpp in the same source file. Needs RE2 and xxHash as well.

#include "k8s_sd/src.hpp"

// Bodies of the layers above those of src.hpp, in the order of the layers.
// clang-format off
#include "k8s_sd/detail/relabel/relabel.ipp"
#include "k8s_sd/detail/scrape/scrape.ipp"
#include "k8s_sd/detail/monitors/monitors.ipp"
// clang-format on
