#include "k8s_sd/detail/monitors/pem.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::string_view tls_assets = "/etc/prometheus/certs/";

/// The fields of one file: `ca`, `cert` or `key`.
struct TlsFile {
    const char* selector;  ///< a SecretOrConfigMap; for the key, of a Secret
    const char* file;
    const char* value_key;  ///< in the job, with the text
    const char* file_key;   ///< in the job, with the name of a file
};
constexpr TlsFile tls_ca{"ca", "caFile", "ca", "ca_file"};
constexpr TlsFile tls_cert{"cert", "certFile", "cert", "cert_file"};
constexpr TlsFile tls_key{"keySecret", "keyFile", "key", "key_file"};
constexpr std::array<TlsFile, 3> tls_files{tls_ca, tls_cert, tls_key};

bool is_key(const TlsFile& file) { return std::string_view(file.selector) == "keySecret"; }

/// The reference of a file; nullopt if the object has none.
std::optional<MonitorReference> tls_reference(const ObjectView& tls, const TlsFile& file,
                                              const JobContext& context) {
    const ObjectView selector = tls[file.selector];
    if (is_key(file)) {
        if (!selector) return std::nullopt;
        return context.reference(MonitorReference::Kind::secret, selector);
    }
    return secret_or_config_map(selector, context);
}

bool has_file(const ObjectView& tls, const TlsFile& file) { return !tls.text(file.file).empty(); }

void check_sources(const ObjectView& tls, const TlsFile& file, bool has_files,
                   const JobContext& context) {
    if (!is_key(file)) check_secret_or_config_map(tls[file.selector]);
    if (has_files && has_file(tls, file) && tls_reference(tls, file, context)) {
        tls.refuse(std::string("has both ") + file.selector + " and " + file.file,
                   "remove one of them");
    }
}

void check_tls_versions(const ObjectView& tls) {
    const std::string_view min = tls.text("minVersion");
    const std::string_view max = tls.text("maxVersion");
    if (!min.empty() && !max.empty() && max < min) {
        tls.refuse("maxVersion is below minVersion", "correct one of them");
    }
}

/// The material of a file, with a fault if it is absent.
std::optional<std::string> tls_material(const ObjectView& tls, const TlsFile& file,
                                        const JobContext& context) {
    const auto reference = tls_reference(tls, file, context);
    return reference ? required_value(*reference, tls[file.selector], context) : std::nullopt;
}

void check_material(const ObjectView& tls, const JobContext& context) {
    const auto ca = tls_material(tls, tls_ca, context);
    if (ca && !is_pem_certificate(*ca)) {
        tls["ca"].refuse("is no certificate in PEM", "store a PEM certificate under that key");
    }
    const auto cert = tls_material(tls, tls_cert, context);
    const auto key = tls_material(tls, tls_key, context);
    if (cert && key && !is_pem_pair(*cert, *key)) {
        tls.refuse("cert and keySecret are no certificate in PEM and its key",
                   "store a certificate and the key it was made for");
    }
}

/// The text of a reference; for a scrape class, also from the namespace of the owner. The operator
/// looks in the namespace of the object only, where a class rarely finds its Secrets.
std::optional<std::string> material_text(MonitorReference reference, bool of_class,
                                         const JobContext& context) {
    auto text = present_value(reference, context);
    if (text || !of_class) return text;
    reference.object_namespace = context.owner.owner_namespace;
    return present_value(reference, context);
}

/// `ca`, `cert` and `key` of Secrets: their text, or the file mounted by the operator.
/// \param of_class  whether the settings are those of a scrape class
void put_material(JobObject& section, const ObjectView& tls, const TlsFile& file, bool of_class,
                  const JobContext& context) {
    const auto reference = tls_reference(tls, file, context);
    if (!reference) return;
    if (context.options.inline_tls) {
        if (const auto text = material_text(*reference, of_class, context)) {
            put_text(section, file.value_key, *text);
        }
        return;
    }
    const bool config_map = reference->kind == MonitorReference::Kind::config_map;
    put_text(section, file.file_key,
             std::string(tls_assets) + (config_map ? "1" : "0") + "_" +
                 reference->object_namespace + "_" + reference->name + "_" + reference->key);
}

JobObject own_tls_section(const ObjectView& tls, bool of_class, const JobContext& context) {
    JobObject section;
    if (const auto skip = tls.flag("insecureSkipVerify")) {
        put(section, "insecure_skip_verify", *skip);
    }
    for (const TlsFile& file : tls_files) put_material(section, tls, file, of_class, context);
    put_nonempty(section, "server_name", tls.text("serverName"));
    if (tls.has("minVersion") && context.generates(2, 35)) {
        put_text(section, "min_version", tls.text("minVersion"));
    }
    if (tls.has("maxVersion") && context.generates(2, 41)) {
        put_text(section, "max_version", tls.text("maxVersion"));
    }
    return section;
}

/// Whether nothing is set: `ca` and `cert` are structures in Go, so empty ones do not count.
bool is_empty_tls(const ObjectView& tls) {
    const auto members = tls.members();
    return std::all_of(members.begin(), members.end(), [](const auto& member) {
        const bool structure = member.first == "ca" || member.first == "cert";
        return structure && member.second.is_empty_object();
    });
}

}  // namespace

void check_tls(const ObjectView& tls, const JobContext& context, bool has_files) {
    if (!tls) return;
    for (const TlsFile& file : tls_files) check_sources(tls, file, has_files, context);
    const auto has = [&](const TlsFile& file) {
        return (has_files && has_file(tls, file)) || tls_reference(tls, file, context);
    };
    if (has(tls_cert) != has(tls_key)) {
        tls.refuse(has(tls_cert) ? "has a client certificate without a key"
                                 : "has a client key without a certificate",
                   "add the missing one");
    }
    check_tls_versions(tls);
    check_material(tls, context);
}

std::optional<JobObject> tls_section(const ObjectView& tls, const ObjectView& of_class,
                                     TlsForm form, const JobContext& context) {
    const bool absent = !tls || (form.empty_is_absent && is_empty_tls(tls));
    if (absent && !of_class) return std::nullopt;
    const ObjectView& used = absent ? of_class : tls;
    const bool has_files = absent || form.has_files;
    JobObject section = own_tls_section(used, absent, context);
    for (const TlsFile& file : tls_files) {
        std::string_view name = has_files ? used.text(file.file) : std::string_view();
        // The class fills in files, never Secrets.
        const bool missing = name.empty() && !tls_reference(used, file, context);
        if (missing && of_class) name = of_class.text(file.file);
        put_nonempty(section, file.file_key, name);
    }
    return section;
}

}  // namespace k8s_sd::inline v0::detail
