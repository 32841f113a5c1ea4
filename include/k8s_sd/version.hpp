#pragma once

/// The version of this library, as text.
#define K8S_SD_VERSION "0.1.0"
