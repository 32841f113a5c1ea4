#pragma once

#include <cstdint>

/// Declarations of the classes of discovery and of the object cache, for headers of hosts. Hosts
/// must not declare them themselves: they are members of an inline namespace.
namespace k8s_sd::inline v0 {

enum class Kind : std::uint8_t;
enum class LabelDialect : std::uint8_t;
enum class Role : std::uint8_t;

class ApiClient;
class DataObject;
class Discoverer;
class DiscoveryManager;
class GroupWatcher;
class Labels;
class Object;
class ObjectCache;
class ReferenceSets;
class TargetGroup;
class TargetGroups;
class URLWatcher;
class WatchObserver;

struct ApiServerConfig;
struct DiscoveryConfig;
struct Environment;
struct GroupChange;
struct Job;
struct JobDiff;
struct Metrics;
struct ObjectCacheConfig;
struct TargetGroupDiff;

}  // namespace k8s_sd::inline v0
