#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H
// zlib.h brings <unistd.h> along; its types must look as CLinux sees them.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <zlib.h>
#endif
