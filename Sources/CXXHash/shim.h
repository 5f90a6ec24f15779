#ifndef CXXHASH_SHIM_H
#define CXXHASH_SHIM_H
// The layout of XXH3_state_t is only declared for static linking; it belongs to exactly this version of the
// header, so nothing below may touch a state when the library in use is of another version.
#define XXH_STATIC_LINKING_ONLY
#include <string.h>
#include <xxhash.h>

#define CXXHASH_BUFFER_SIZE sizeof(((XXH3_state_t *)0)->buffer)

// A running XXH3-128 without its pointers and padding: what must be kept to go on later.
typedef struct {
    uint64_t total;
    uint64_t stripes;
    uint64_t acc[8];
    uint32_t version;
    uint32_t buffered;
    // Also past `buffered`: a digest reads the last stripe from the buffer's end.
    unsigned char buffer[CXXHASH_BUFFER_SIZE];
} cxxhash_saved;

// 0 when the library in use is another version than the header.
static inline int cxxhash_save(const XXH3_state_t *state, cxxhash_saved *saved) {
    memset(saved, 0, sizeof *saved);
    if (XXH_versionNumber() != XXH_VERSION_NUMBER) return 0;
    saved->version = XXH_VERSION_NUMBER;
    saved->total = state->totalLen;
    saved->stripes = state->nbStripesSoFar;
    memcpy(saved->acc, state->acc, sizeof saved->acc);
    saved->buffered = state->bufferedSize;
    memcpy(saved->buffer, state->buffer, sizeof saved->buffer);
    return 1;
}

// 0 when the state cannot have been saved by this version; the secret, its limits and the pointer to it are
// those of a fresh state, since they are addresses and constants of the running library.
static inline int cxxhash_restore(XXH3_state_t *state, const cxxhash_saved *saved) {
    if (XXH_versionNumber() != XXH_VERSION_NUMBER || saved->version != XXH_VERSION_NUMBER) return 0;
    if (XXH3_128bits_reset(state) != XXH_OK) return 0;
    if (saved->buffered > sizeof state->buffer || saved->buffered > saved->total) return 0;
    if (saved->stripes > state->nbStripesPerBlock) return 0;
    state->totalLen = saved->total;
    state->nbStripesSoFar = saved->stripes;
    memcpy(state->acc, saved->acc, sizeof saved->acc);
    state->bufferedSize = saved->buffered;
    memcpy(state->buffer, saved->buffer, sizeof saved->buffer);
    return 1;
}
#endif
