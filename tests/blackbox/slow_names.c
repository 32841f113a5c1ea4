// Preloaded into a program, answers its name lookups for a test: TEST_HOSTS is
// "NAME=ADDRESS[,ADDRESS]...", and a lookup of that name takes TEST_LOOKUP_SECONDS of the program's
// time. Other lookups are unchanged.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Lookup(const char*, const char*, const struct addrinfo*, struct addrinfo**);

static Lookup* next_lookup(void) {
    static Lookup* next;
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next;
}

// The addresses of the name in TEST_HOSTS; null: none.
static const char* addresses_of(const char* name) {
    const char* hosts = getenv("TEST_HOSTS");
    if (!hosts || !name) return NULL;
    const size_t length = strlen(name);
    return strncmp(hosts, name, length) == 0 && hosts[length] == '=' ? hosts + length + 1 : NULL;
}

static int append(const char* address, const char* service, const struct addrinfo* hints,
                  struct addrinfo** end) {
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    numeric.ai_flags |= AI_NUMERICHOST;
    return next_lookup()(address, service, &numeric, end);
}

int getaddrinfo(const char* restrict name, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict result) {
    const char* addresses = addresses_of(name);
    if (!addresses) return next_lookup()(name, service, hints, result);
    const char* seconds = getenv("TEST_LOOKUP_SECONDS");
    if (seconds) sleep((unsigned)atoi(seconds));
    *result = NULL;
    struct addrinfo** end = result;
    char list[256];
    strncpy(list, addresses, sizeof list - 1);
    list[sizeof list - 1] = '\0';
    char* rest = NULL;
    char* address = strtok_r(list, ",", &rest);
    for (; address; address = strtok_r(NULL, ",", &rest)) {
        const int error = append(address, service, hints, end);
        if (error == EAI_ADDRFAMILY) continue;  // the caller does not want this family
        if (error) return error;
        while (*end) end = &(*end)->ai_next;
    }
    return *result ? 0 : EAI_NONAME;
}
