/* A host that loads the library at run time: twice at a time, again after unloading, a copy from
 * another path, with symbols for everybody, and a copy in a namespace of its own. */

#define _GNU_SOURCE

#include "support.h"

#include <dlfcn.h>
#include <unistd.h>

typedef k8s_sd_context* (*open_function)(const k8s_sd_options*, k8s_sd_error**);
typedef void (*free_function)(k8s_sd_context*);
typedef uint32_t (*version_function)(void);

static const char* path;

static void* symbol(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s\n", dlerror());
    CHECK(found);
    return found;
}

/* POSIX permits the conversion, ISO C does not. */
#define FUNCTION(type, library, name) (*(type*)&(void*){symbol(library, name)})

static void open_and_free(void* library) {
    k8s_sd_error* error = NULL;
    k8s_sd_context* context;
    CHECK(FUNCTION(version_function, library, "k8s_sd_abi_version")() == K8S_SD_ABI_VERSION);
    context = FUNCTION(open_function, library, "k8s_sd_open")(NULL, &error);
    CHECK(context && !error);
    FUNCTION(free_function, library, "k8s_sd_free")(context);
}

static void* load_from(const char* file, int flags) {
    void* const library = dlopen(file, RTLD_NOW | flags);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    return library;
}

static void* load(void) { return load_from(path, RTLD_LOCAL); }

static void twice(void) {
    void* const first = load();
    void* const second = load();
    CHECK(first == second);
    open_and_free(first);
    CHECK(dlclose(first) == 0);
    open_and_free(second);
    CHECK(dlclose(second) == 0);
    open_and_free(load());
}

/* Copies the library to a new file beside it. */
static void copy_library(char* name, size_t capacity) {
    char buffer[65536];
    size_t size;
    FILE *in, *out;
    CHECK((size_t)snprintf(name, capacity, "%s-copy-XXXXXX", path) < capacity);
    in = fopen(path, "rb");
    out = fdopen(mkstemp(name), "wb");
    CHECK(in && out);
    while ((size = fread(buffer, 1, sizeof buffer, in)) > 0) {
        CHECK(fwrite(buffer, 1, size, out) == size);
    }
    CHECK(fclose(in) == 0 && fclose(out) == 0);
}

/* Two copies run at the same time, although both offer their symbols to everybody. */
static void two_copies(void) {
    char other[4096];
    k8s_sd_error* error = NULL;
    void *first, *second;
    k8s_sd_context *of_first, *of_second;
    copy_library(other, sizeof other);
    first = load_from(path, RTLD_GLOBAL);
    second = load_from(other, RTLD_GLOBAL);
    unlink(other);
    CHECK(first != second);
    CHECK(symbol(first, "k8s_sd_open") != symbol(second, "k8s_sd_open"));
    of_first = FUNCTION(open_function, first, "k8s_sd_open")(NULL, &error);
    of_second = FUNCTION(open_function, second, "k8s_sd_open")(NULL, &error);
    CHECK(of_first && of_second && !error);
    FUNCTION(free_function, first, "k8s_sd_free")(of_first);
    open_and_free(second);
    CHECK(dlclose(first) == 0);
    open_and_free(second);
    FUNCTION(free_function, second, "k8s_sd_free")(of_second);
    CHECK(dlclose(second) == 0);
}

/* Sanitizers do not know other namespaces. */
static void in_a_namespace(void) {
#if !defined(K8S_SD_ADDRESS_SANITIZER) && !defined(K8S_SD_THREAD_SANITIZER)
    void* const copy = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (!copy) fprintf(stderr, "%s\n", dlerror());
    CHECK(copy && copy != load());
    open_and_free(copy);
    open_and_free(load());
#endif
}

int main(int argc, char** argv) {
    CHECK(argc == 2);
    path = argv[1];
    twice();
    two_copies();
    in_a_namespace();
    return 0;
}
