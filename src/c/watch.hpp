#pragma once

#include "event_queue.hpp"
#include "json_writer.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_c {

namespace asio = boost::asio;

/// A part of a context that produces events. Held by a shared pointer; its handlers, which run in
/// the context, hold weak ones.
class Watch : public std::enable_shared_from_this<Watch> {
 public:
    /// The parts of the context used by all watches. They outlive them.
    struct Host {
        asio::io_context& io;
        EventQueue& queue;
        bool events_as_json = false;  ///< makes the JSON of events ahead
        bool find_server = false;     ///< see K8S_SD_FIND_SERVER
    };

    Watch(const Host& host, WatchIdentity identity) : host_(host), identity_(identity) {}
    virtual ~Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    const WatchIdentity& identity() const noexcept { return identity_; }
    /// Called once, by the thread of the host.
    virtual void start() = 0;
    /// Thread-safe, idempotent.
    virtual void cancel() noexcept = 0;
    /// Drops everything that is known, also what has stopped half-way for lack of memory. Called in
    /// the context; begin_again() follows later.
    virtual void forget() noexcept = 0;
    /// Starts again with the complete state. Called in the context.
    virtual void begin_again() = 0;
    /// Whether check_status() does anything.
    virtual bool checks_status() const noexcept { return false; }
    /// Delivers the status if it has changed. Called in the context, every second.
    virtual void check_status() {}
    /// Replaces the configuration. \throws Failure unless the watch is a k8s_sd_scrape()
    virtual void reload(const k8s_sd_config&);
    /// Writes the status as members of a JSON object, and adds that of each URL to `urls`.
    virtual void write_status(JsonWriter&, std::vector<k8s_sd::WatchStatus>& urls) const = 0;

 protected:
    const Host& host() const noexcept { return host_; }
    /// Puts an event into a slot.
    void deliver(const std::shared_ptr<Slot>&, EventPtr) const;
    /// A slot that calls `Self::read()` in the context once the host has taken its event.
    template <class Self>
    std::shared_ptr<Slot> reading_slot(Self& self) {
        return std::make_shared<Slot>([&io = host_.io, weak = weak_of(self)] {
            asio::post(io, [weak] {
                if (const auto alive = weak.lock()) alive->read();
            });
        });
    }
    template <class Self>
    std::weak_ptr<Self> weak_of(Self& self) {
        return std::static_pointer_cast<Self>(self.shared_from_this());
    }

 private:
    const Host host_;
    const WatchIdentity identity_;
};

/// Writes the status of a discoverer or watcher as members of a JSON object.
void write_status(JsonWriter&, const k8s_sd::DiscovererStatus&);

}  // namespace k8s_sd_c
