#ifndef CISAL_SHIM_H
#define CISAL_SHIM_H
#include <isa-l/crc.h>

// CRC-32C (RFC 3720 12.1). The library takes a buffer that is not const, which it does not write, and an int.
static inline unsigned int cisal_crc32c(const unsigned char *bytes, int count, unsigned int crc) {
    return crc32_iscsi((unsigned char *)bytes, count, crc);
}
#endif
