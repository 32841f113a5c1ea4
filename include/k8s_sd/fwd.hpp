#pragma once

#include <cstdint>

/// Forward declarations of the classes of discovery and of the object cache, for headers of hosts.
/// Hosts must not declare them themselves: they are members of an inline namespace.
namespace k8s_sd::inline v0 {

enum class Kind : std::uint16_t;
enum class LabelDialect : std::uint8_t;
enum class PrometheusVersion : std::uint8_t;
enum class Role : std::uint8_t;

class ApiClient;
class Clock;
class Connector;
class DataObject;
class Discoverer;
class DiscoveryManager;
class DividedDiscovery;
class FieldSelector;
class FileCalls;
class FleetShare;
class FleetView;
class GroupShare;
class GroupWatcher;
class LabelSelector;
class Labels;
class MemberSource;
class Membership;
class Object;
class ObjectCache;
class ObjectShare;
class ProgramRunner;
class ReferenceSets;
class Resolver;
class TargetGroup;
class TargetGroupMaker;
class TargetGroups;
class TargetSource;
class TargetStore;
class TokenSource;
class URLWatcher;
class WatchObserver;

template <class T>
class Index;
template <class T>
class Snapshot;
template <class T>
class Store;
template <class T>
class StoreWriter;

struct AccessCheckLine;
struct AccessRule;
struct ApiServerConfig;
struct DiscoveryConfig;
struct Environment;
struct FileSdConfig;
struct GroupChange;
struct GroupView;
struct HttpSdConfig;
struct Job;
struct JobDiff;
struct Logger;
struct Metrics;
struct ObjectCacheConfig;
struct ObjectChange;
struct RbacOptions;
struct ResolvedConfig;
struct ServerHealth;
struct ServerUsage;
struct StaticConfig;
struct TargetGroupDiff;
struct WatchOptions;
struct WatchQuery;
struct WatchScope;
struct WatcherConfig;

}  // namespace k8s_sd::inline v0
