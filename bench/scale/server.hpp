#pragma once

#include "child.hpp"
#include "object_list.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::scale {

/// The cluster of a server.
struct Size {
    std::size_t pods = 0;
    std::size_t namespace_size = ObjectList::pods_of_namespace;
};

/// A command for the server.
struct Command {
    enum class What : std::uint8_t {
        change_pods,  ///< `count` changes, `rate` a second; the value of a label is stamp()
        change_node,  ///< a change of the first node; `count` is its revision
        drop_pods,    ///< only the first `count` pods are left, and no watch saw the others go
    };
    What what;
    std::size_t count = 0, rate = 0;
};

/// Serves nodes, pods, services and endpoint slices from a child process, which makes the bytes
/// while it sends them: neither process has the list in memory.
struct Server : Child {
    unsigned short port = 0;

    void send(const Command&) const;
};
Server serve(const Size&, Encoding);

/// The time in microseconds, modulo 10^9: the value of a changed label.
std::uint64_t stamp();

}  // namespace bench::scale
