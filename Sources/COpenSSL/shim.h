#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros as functions.
static inline int copenssl_ctx_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline void copenssl_ctx_set_mode(SSL_CTX *context, uint32_t mode) { SSL_CTX_set_mode(context, mode); }
static inline void copenssl_ctx_set_read_ahead(SSL_CTX *context, int on) { SSL_CTX_set_read_ahead(context, on); }
static inline void copenssl_ctx_set_session_cache_mode(SSL_CTX *context, int mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}
static inline void copenssl_ctx_forbid_renegotiation(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}
static inline int copenssl_set_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}
static inline int copenssl_err_get_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int copenssl_err_get_lib(unsigned long code) { return ERR_GET_LIB(code); }

// The error queue is cleared before a call (it may hold another call's leftovers, which SSL_get_error(3) would
// take for this one's), and its verdict and errno are read before anything else can change them.
static inline int copenssl_connect(SSL *session, int *verdict, int *system_code) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_connect(session);
    *system_code = errno;
    *verdict = SSL_get_error(session, result);
    return result == 1;
}
static inline int copenssl_read(
    SSL *session, void *buffer, size_t size, size_t *count, int *verdict, int *system_code) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_read_ex(session, buffer, size, count);
    *system_code = errno;
    *verdict = SSL_get_error(session, result);
    return result == 1;
}
static inline int copenssl_peek(
    SSL *session, void *buffer, size_t size, size_t *count, int *verdict, int *system_code) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_peek_ex(session, buffer, size, count);
    *system_code = errno;
    *verdict = SSL_get_error(session, result);
    return result == 1;
}
static inline int copenssl_write(
    SSL *session, const void *buffer, size_t size, size_t *count, int *verdict, int *system_code) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_write_ex(session, buffer, size, count);
    *system_code = errno;
    *verdict = SSL_get_error(session, result);
    return result == 1;
}
#endif
