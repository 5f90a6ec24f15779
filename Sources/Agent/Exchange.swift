import Posix
import Reconcile
import Storage
import Transport
import Wire

extension Transfer {
    /// Sends the request that the rule asked for and waits for the answer's head, over the connection at hand when
    /// it leads to this origin and can be used again, else over a new one.
    mutating func exchange(
        _ asked: Ask, of job: Job, redirects: Redirects, over connection: inout Connection?
    ) throws(Setback) -> ResponseHead {
        let url: HTTPURL
        do throws(TransportError) {
            url = try redirects.current.inASCII()
        } catch {
            throw Setback(transport: error)
        }
        let route = network.route(to: url.origin)
        try write(
            asked, to: url, by: route, pastCaches: job.asksPastCaches,
            credentials: job.credentials(at: redirects, context.options))
        if connection?.origin != url.origin || connection?.route != route
            || connection?.isReusable() != true
        {
            connection = nil
        }
        // A server may close a kept connection at any time; the request that met that was not seen (RFC 9112
        // 9.3.1) and goes once more over a new one.
        if connection != nil {
            do throws(TransportError) {
                return try ask(over: &connection)
            } catch {
                let isStale = connection?.hasAnswered == false
                connection = nil
                guard isStale, case .closed = error.cause else { throw Setback(transport: error) }
            }
        }
        let began = Instant.now
        let heard = context.counters.heard
        do throws(TransportError) {
            connection = try Connection.open(to: url.origin, using: network)
            if let proxy = route.proxy { context.scheduler.connected(host: proxy.subject) }
            context.scheduler.connected(host: url.origin.host)
            if url.origin.scheme == .https { context.suspect { $0.sawGoodCertificate() } }
        } catch {
            let setback = Setback(transport: error)
            if let failure = setback.connect {
                // A proxy that cannot be reached says nothing of the host behind it.
                let isProxys = error.operation == .resolve || error.operation == .connect
                let host = isProxys ? route.proxy?.subject : nil
                context.scheduler.connectFailed(
                    host: host ?? url.origin.host, failure, began: began,
                    isAlive: context.counters.heard != heard)
            }
            if let doubt = setback.certificate {
                context.suspect { $0.sawBadCertificate(host: url.origin.host, isAboutTime: doubt == .time) }
            }
            throw setback
        }
        do throws(TransportError) {
            return try ask(over: &connection)
        } catch {
            connection = nil
            throw Setback(transport: error)
        }
    }

    private func ask(over connection: inout Connection?) throws(TransportError) -> ResponseHead {
        let deadline = Instant.now.advanced(bySeconds: context.options.headTimeout)
        try connection?.send(request, until: deadline)
        guard let head = try connection?.receiveHead(until: deadline) else {
            throw TransportError(.send, "connection", .closed)
        }
        return head
    }

    private mutating func write(
        _ asked: Ask, to url: HTTPURL, by route: Route, pastCaches: Bool,
        credentials: [(name: String, value: String)]
    ) throws(Setback) {
        var fields: [(name: String, value: String)] = [
            ("User-Agent", context.options.userAgent),
            ("Accept", "*/*"),
            // A coded body cannot be resumed, checked or compared with a size (RFC 9110 12.5.3).
            ("Accept-Encoding", "identity"),
        ]
        switch asked {
        case .whole, .nothing, .check:
            break
        case .revalidate(let tag, let date):
            if let tag { fields.append(("If-None-Match", tag)) }
            if let date { fields.append(("If-Modified-Since", date)) }
        case .prove(let tag):
            fields.append(("If-None-Match", tag))
        case .rest(let from, let ifRange):
            fields.append(("Range", "bytes=\(from)-"))
            if let ifRange { fields.append(("If-Range", ifRange)) }
        }
        if pastCaches { fields.append(("Cache-Control", "no-cache")) }
        fields.append(contentsOf: credentials)
        if let value = route.forwarder?.authorization { fields.append(("Proxy-Authorization", value)) }
        request.removeAll(keepingCapacity: true)
        do throws(RequestError) {
            try appendRequest(
                to: &request, target: route.forwarder == nil ? url.target : url.absoluteTarget,
                host: url.origin.authority, fields: fields)
        } catch {
            throw Setback(.never, "request", "\(error)")
        }
    }

    /// Reads what is left of an answer whose body is not wanted, when that is cheaper than a new connection.
    func drain(_ connection: inout Connection?) throws(Setback) {
        guard connection != nil else { return }
        let isKept: Bool
        do throws(TransportError) {
            isKept = try connection?.discardBody(limit: 64 << 10, until: .now.advanced(bySeconds: 5)) ?? false
        } catch {
            connection = nil
            if case .stopped = error.cause { throw Setback(transport: error) }
            return
        }
        if !isKept { connection = nil }
    }
}

extension HTTPURL {
    /// With the host as the wire takes it (RFC 5891).
    func inASCII() throws(TransportError) -> HTTPURL {
        guard origin.needsIDNA else { return self }
        var url = self
        url.origin = try origin.ascii()
        return url
    }
}
