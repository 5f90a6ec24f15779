package import Posix

/// A small HTTP/1.1 origin on loopback, whose closure decides what each request gets; one thread a connection.
///
/// It speaks no TLS. It stops when it is released.
package final class TestOrigin: Sendable {
    private let core: Core
    /// The port it listens on.
    package let port: UInt16
    private let host: String

    /// Listens, by default on a free port. Throws what socket, bind or listen said.
    package init(
        host: String = "127.0.0.1", port: UInt16 = 0,
        handler: @escaping @Sendable (inout Exchange) -> Void
    ) throws(SystemError) {
        let listener = try Listener(host: host, port: port)
        let core = Core(handler: handler, stop: try Stop())
        try WorkerThread(name: "origin") {
            while let number = listener.accept(stop: core.stop) { core.serve(number) }
            core.left()
        }.detach()
        self.core = core
        self.port = listener.port
        self.host = host
    }

    deinit { core.stop.raise() }

    /// Scheme, host and port, without a slash at the end.
    package var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The requests so far, in the order in which they were read; the unfinished ones included.
    package var log: [LoggedRequest] { core.state.withLock { $0.log } }

    /// Waits until the log satisfies a condition; false when that took longer than the seconds given.
    package func wait(seconds: Double = 30, _ condition: @escaping ([LoggedRequest]) -> Bool) -> Bool {
        let deadline = Instant.now.advanced(bySeconds: seconds)
        return core.state.wait { state in
            if condition(state.log) { return .done(true) }
            return Instant.now >= deadline ? .done(false) : .wait(until: deadline)
        }
    }

    /// Ends all connections and waits, at most 10 s, for the handlers to return.
    package func stop() {
        core.stop.raise()
        let deadline = Instant.now.advanced(bySeconds: 10)
        core.state.wait { state in
            state.threads == 0 || Instant.now >= deadline ? .done(()) : .wait(until: deadline)
        }
    }
}

/// A loopback port on which nobody listens: it was free a moment ago.
package func refusingPort() throws(SystemError) -> UInt16 {
    try Listener(host: "127.0.0.1", port: 0).port
}

/// What the origin's threads share; it does not keep the origin itself alive.
private final class Core: Sendable {
    struct State {
        var log: [LoggedRequest] = []
        var asked: [String: Int] = [:]
        var connections = 0
        var threads = 1
    }

    let state = Monitor(State())
    let stop: Stop
    private let handler: @Sendable (inout Exchange) -> Void

    init(handler: @escaping @Sendable (inout Exchange) -> Void, stop: Stop) {
        self.handler = handler
        self.stop = stop
    }

    func left() { state.signal { $0.threads -= 1 } }

    /// Starts the thread of an accepted connection.
    func serve(_ number: Int32) {
        let connection = state.withLock { state in
            state.connections += 1
            state.threads += 1
            return state.connections - 1
        }
        do throws(SystemError) {
            try WorkerThread(name: "origin-\(connection)") { [self] in
                converse(Peer(Descriptor(owning: number, subject: "connection"), stop: stop), connection)
                left()
            }.detach()
        } catch {
            _ = Descriptor(owning: number, subject: "connection")
            left()
        }
    }

    private func converse(_ peer: Peer, _ connection: Int) {
        while peer.isOpen, let request = peer.receiveRequest() {
            let (index, repetition) = state.signal { state in
                let repetition = state.asked[request.target, default: 0]
                state.asked[request.target] = repetition + 1
                state.log.append(LoggedRequest(request: request, connection: connection))
                return (state.log.count - 1, repetition)
            }
            var exchange = Exchange(
                request: request, connection: connection, repetition: repetition, peer: peer
            ) { [state] status, sent in
                state.signal { state in
                    state.log[index].status = status
                    state.log[index].sent += sent
                }
            }
            handler(&exchange)
            state.signal { $0.log[index].isFinished = true }
            if request.field("connection")?.lowercased() == "close" { peer.close(reset: false) }
        }
    }
}
