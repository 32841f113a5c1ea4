#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/shared_text.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/selector.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// What the watches of a collection and of its single objects share. Immutable.
struct WatchSetup {
    /// \param query  for single objects without a field selector
    /// \param form  how objects are stored; null: as is usual for the kind
    /// \throws ConfigError for an invalid namespace
    WatchSetup(WatchQuery query, std::shared_ptr<const WatchOptions> options,
               std::shared_ptr<ObjectMaker> maker,
               std::shared_ptr<const ObjectForm> form = nullptr);

    const WatchQuery query;
    const std::shared_ptr<const WatchOptions> options;
    const std::shared_ptr<ObjectMaker> maker;
    const std::shared_ptr<const ObjectForm> form;  ///< null: objects are stored for labels
    const KindSchema& schema;
};

/// What one watch is about. There may be a watch for each of thousands of objects, so each has no
/// more than the name of its object.
class WatchSubject {
 public:
    /// \param object  the name of a single object; empty: all objects of the query
    explicit WatchSubject(std::shared_ptr<const WatchSetup> setup, SharedText object = {})
        : setup_(std::move(setup)), object_(std::move(object)) {}

    Kind kind() const noexcept { return setup_->query.kind; }
    /// Empty: all namespaces.
    const std::string& ns() const noexcept { return setup_->query.ns; }
    const ObjectShare& share() const noexcept { return setup_->query.share; }
    /// The name of the only object; empty: there may be others.
    std::string_view object() const noexcept;
    /// The whole query, with the selector of the object.
    WatchQuery query() const;
    const WatchOptions& options() const noexcept { return *setup_->options; }
    const KindSchema& schema() const noexcept { return setup_->schema; }
    ObjectMaker& maker() const noexcept { return *setup_->maker; }
    const ObjectForm* form() const noexcept { return setup_->form.get(); }

 private:
    std::shared_ptr<const WatchSetup> setup_;
    SharedText object_;  ///< empty: the query may select one
};

}  // namespace k8s_sd::inline v0::detail
