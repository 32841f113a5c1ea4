#include "k8s_sd/detail/scrape/scrape.ipp"
