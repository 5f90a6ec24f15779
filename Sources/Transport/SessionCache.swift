internal import COpenSSL
internal import Posix
internal import Wire

/// TLS sessions that can be resumed, by the origin whose certificate they were verified for.
///
/// Each is handed out once: a TLS 1.3 ticket is for one use (RFC 8446 C.4), and OpenSSL does not let two
/// connections share one at the same time.
final class SessionCache: Sendable {
    static let maximumOrigins = 64
    static let maximumPerOrigin = 8

    /// Owns one reference to a session.
    final class Session: @unchecked Sendable {
        let pointer: OpaquePointer
        init(owning pointer: OpaquePointer) { self.pointer = pointer }
        deinit { SSL_SESSION_free(pointer) }
    }

    private struct State {
        var sessions: [Origin: [Session]] = [:]
        /// The one unused for the longest time first.
        var order: [Origin] = []
    }

    private let state = Monitor(State())

    /// Keeps a session, in place of the oldest when there are too many.
    func keep(_ session: Session, for origin: Origin) {
        state.withLock { state in
            state.order.removeAll { $0 == origin }
            state.order.append(origin)
            state.sessions[origin, default: []].append(session)
            if state.sessions[origin, default: []].count > Self.maximumPerOrigin {
                state.sessions[origin]?.removeFirst()
            }
            if state.order.count > Self.maximumOrigins { state.sessions[state.order.removeFirst()] = nil }
        }
    }

    /// Hands out the newest session for good; nil when there is none.
    func take(for origin: Origin) -> Session? {
        state.withLock { $0.sessions[origin]?.popLast() }
    }

    /// Sessions kept for an origin.
    func count(for origin: Origin) -> Int { state.withLock { $0.sessions[origin]?.count ?? 0 } }
}

/// Where the sessions of one connection go; OpenSSL carries it in the connection's app data.
final class SessionDelivery: Sendable {
    let cache: SessionCache
    let origin: Origin

    init(cache: SessionCache, origin: Origin) {
        self.cache = cache
        self.origin = origin
    }
}

/// See SSL_CTX_sess_set_new_cb(3): called with each session or ticket that the peer grants, after its certificate
/// was verified; 1 keeps the reference.
func acceptSession(_ tls: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let tls, let session, let context = SSL_get_ex_data(tls, 0) else { return 0 }
    let delivery = Unmanaged<SessionDelivery>.fromOpaque(context).takeUnretainedValue()
    delivery.cache.keep(SessionCache.Session(owning: session), for: delivery.origin)
    return 1
}
