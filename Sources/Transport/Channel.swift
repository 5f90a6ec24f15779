internal import Posix
internal import Wire

/// A byte stream to a host, plain or through TLS, that waits with a deadline and the stop beside it.
struct Channel: ~Copyable {
    private var tls: TLSSession?
    private let socket: Descriptor
    /// `host:port`, for errors.
    private let subject: String
    private let stop: Stop
    let address: Address

    private init(_ dialed: consuming Dialed, _ subject: String, _ stop: Stop) {
        address = dialed.address
        socket = dialed.socket
        self.subject = subject
        self.stop = stop
    }

    deinit { tls?.farewell() }

    /// Dials the origin or the proxy before it, has a tunnel opened where the route wants one, and for https shakes
    /// hands: all within the time of the address that won. The origin's host is in ASCII.
    static func open(
        to origin: Origin, by route: Route, using network: Network, until limit: Instant
    ) throws(TransportError) -> Channel {
        let first = try route.proxy?.origin.ascii() ?? origin
        let dialed = try dial(
            first, called: route.proxy?.subject ?? origin.subject, using: network, until: limit)
        let deadline = dialed.deadline
        var channel = Channel(dialed, route.subject(for: origin), network.stop)
        switch route {
        case .direct, .forwarded: break
        case .tunnelled(let proxy):
            try openTunnel(to: origin, through: proxy, over: channel, until: deadline)
        }
        switch origin.scheme {
        case .http: break
        case .https: try channel.secure(for: origin, using: network, until: deadline)
        }
        return channel
    }

    /// From here on all bytes go through TLS with the origin, whatever carries them.
    private mutating func secure(
        for origin: Origin, using network: Network, until deadline: Instant
    ) throws(TransportError) {
        let context: TLSContext
        do throws(TLSSetupError) {
            context = try network.tls()
        } catch {
            let failure = TLSFailure(
                .other(error.text), text: "tls cannot be set up: \(error.subject): \(error.text)")
            throw TransportError(.handshake, subject, .tls(failure))
        }
        tls = TLSSession(context, socket: socket, origin: origin, host: origin.bareHost)
        guard tls != nil else {
            let failure = TLSFailure(
                .other("no session"), text: "tls cannot be set up for \(origin.bareHost)")
            throw TransportError(.handshake, subject, .tls(failure))
        }
        try shakeHands(until: deadline)
    }

    /// `TLSv1.3` and the like; nil over plain TCP.
    var tlsVersion: String? { tls?.version }

    /// A TLS session from an earlier connection was taken up again.
    var isResumed: Bool { tls?.isResumed ?? false }

    private borrowing func shakeHands(until deadline: Instant) throws(TransportError) {
        while let step = tls?.handshake() {
            switch step {
            case .moved: return
            case .wants(let interest):
                if Instant.now >= deadline { throw TransportError(.handshake, subject, .timedOut) }
                try wait(interest, until: deadline, .handshake)
            case .ended, .cut: throw TransportError(.handshake, subject, .closed)
            case .broken(let code): throw TransportError(.handshake, subject, broken(code))
            case .failed(let failure): throw TransportError(.handshake, subject, .tls(failure))
            }
        }
    }

    /// Sends all bytes. Throws `.closed` when the peer takes no more; it may have answered nevertheless.
    borrowing func send(_ bytes: UnsafeRawBufferPointer, until deadline: Instant) throws(TransportError) {
        var rest = bytes
        while !rest.isEmpty {
            let step = tls?.write(rest) ?? sendPlain(rest)
            switch step {
            case .moved(let count): rest = UnsafeRawBufferPointer(rebasing: rest[min(count, rest.count)...])
            case .wants(let interest):
                if Instant.now >= deadline { throw TransportError(.send, subject, .timedOut) }
                try wait(interest, until: deadline, .send)
            case .ended, .cut: throw TransportError(.send, subject, .closed)
            case .broken(let code): throw TransportError(.send, subject, broken(code))
            case .failed(let failure): throw TransportError(.send, subject, .tls(failure))
            }
        }
    }

    private borrowing func sendPlain(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Step {
        do throws(SystemError) {
            guard let count = try socket.send(bytes) else { return .wants(.write) }
            return .moved(count)
        } catch {
            return .broken(error.code)
        }
    }

    /// Waits for bytes and returns how many were put into the buffer, which is not empty; 0 at the orderly end of
    /// the stream. Bytes that are here win over a deadline that has passed. Throws `.unexpectedEOF` for a TLS
    /// stream without close_notify, `.closed` for a connection that was reset.
    borrowing func receive(into buffer: UnsafeMutableRawBufferPointer, until deadline: Instant)
        throws(TransportError) -> Int
    {
        if tls?.hasPending == true {
            if stop.isRaised { throw TransportError(.receive, subject, .stopped) }
        } else {
            try wait(.read, until: deadline, .receive)
        }
        while true {
            let step = tls?.read(into: buffer) ?? receivePlain(into: buffer)
            switch step {
            case .moved(let count): return count
            case .wants(let interest): try wait(interest, until: deadline, .receive)
            case .ended: return 0
            case .cut: throw TransportError(.receive, subject, .unexpectedEOF)
            case .broken(let code): throw TransportError(.receive, subject, broken(code))
            case .failed(let failure): throw TransportError(.receive, subject, .tls(failure))
            }
        }
    }

    private borrowing func receivePlain(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Step {
        do throws(SystemError) {
            guard let count = try socket.receive(into: buffer) else { return .wants(.read) }
            return count == 0 ? .ended : .moved(count)
        } catch {
            return .broken(error.code)
        }
    }

    /// Whether the peer has sent nothing more and has not closed.
    borrowing func isQuiet() -> Bool {
        do throws(SystemError) {
            if tls?.hasPending != true, try socket.isQuiet() { return true }
            return tls?.isQuiet() ?? false
        } catch {
            return false
        }
    }

    private func broken(_ code: Int32) -> TransportError.Cause {
        let error = SystemError("socket", subject, code: code)
        return error.isReset ? .closed : .system(error)
    }

    private borrowing func wait(
        _ interest: Interest, until deadline: Instant, _ operation: TransportError.Operation
    ) throws(TransportError) {
        let readiness: Readiness
        do throws(SystemError) {
            readiness = try socket.wait(interest, until: deadline, stop: stop)
        } catch {
            throw TransportError(operation, subject, .system(error))
        }
        switch readiness {
        case .ready: return
        case .timedOut: throw TransportError(operation, subject, .timedOut)
        case .stopped: throw TransportError(operation, subject, .stopped)
        }
    }
}
