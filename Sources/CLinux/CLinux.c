#include "CLinux.h"

static int argument_count;
static char **arguments;

// glibc calls every constructor with main's arguments. Swift's own CommandLine looks for them beside `environ` on the
// stack, and finds nothing once a preloaded library has called setenv(3).
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

int clinux_argument_count(void) { return argument_count; }
const char *clinux_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : NULL;
}
