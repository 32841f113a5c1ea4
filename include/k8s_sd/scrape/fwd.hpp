#pragma once

/// Declarations of the classes of relabelling and scraping; see k8s_sd/fwd.hpp.
namespace k8s_sd::inline v0 {

class MutableLabels;
class Relabeler;
class ScrapeConfigReloader;
class ScrapeLabels;
class ScrapeTarget;
class Sharding;
class TargetBuilder;
class TargetHandler;
class TargetPool;

struct RelabelRule;
struct ScrapeConfig;
struct ScrapeConfigFile;
struct ScrapeJob;

template <class T>
class SharedList;
template <class T>
class SharedValue;

using RelabelRules = SharedList<RelabelRule>;

}  // namespace k8s_sd::inline v0
