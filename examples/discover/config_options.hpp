#pragma once

#include "k8s_sd/config.hpp"
#include "support/option_values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace discover {

/// \throws support::UsageError
k8s_sd::Role read_role(const std::string& name, k8s_sd::LabelDialect);

/// Adds a condition, "pod:label:app=web", to the selector of the role: conditions of one role all
/// have to hold. \throws support::UsageError, k8s_sd::ConfigError
void add_selector(k8s_sd::DiscoveryConfig&, const std::string& text);

/// The metadata that can be attached, by name.
const support::Choices<bool k8s_sd::AttachMetadata::*>& attachable();
/// \param kinds  names with commas between them \throws support::UsageError
void attach(k8s_sd::AttachMetadata&, std::string_view kinds);

}  // namespace discover
