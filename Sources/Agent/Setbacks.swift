import Posix
import Reconcile
import Storage
import Transport
import Wire

extension Setback {
    /// A connection that did not come about or broke.
    init(transport error: TransportError) {
        let subject = error.subject
        switch error.cause {
        case .stopped:
            self.init(.stopped, "stopped", "stopped")
        case .timedOut:
            switch error.operation {
            case .resolve:
                self.init(
                    .retry, "timeout", "\(subject): the name service does not answer", connect: .noNameService
                )
            case .connect:
                self.init(.retry, "timeout", "\(subject): no answer to the connection", connect: .silent)
            case .handshake:
                self.init(.retry, "timeout", "\(subject): tls does not get done in time", connect: .silent)
            case .proxy:
                self.init(.retry, "timeout", "\(subject): the proxy does not answer", connect: .silent)
            case .send, .receive: self.init(.retry, "timeout", "\(subject): nothing comes any more")
            }
        case .system(let system):
            let failure: ConnectFailure? =
                if error.operation != .connect {
                    nil
                } else if system.isNeighbourSilent || system.isTimeout {
                    .silent
                } else if system.isUnreachable {
                    hasWayOut() ? .noRouteToHost : .noRoute
                } else {
                    .refused
                }
            self.init(
                .retry, system.isUnreachable ? "no route" : "connection", "\(subject): \(system.reason)",
                connect: failure)
        case .unknownHost:
            self.init(
                .retry, "unknown host", "\(subject): there is no host of that name", connect: .unknownHost)
        case .noNameService(let words):
            self.init(
                .retry, "no name service", "\(subject): the name cannot be looked up: \(words)",
                connect: .noNameService)
        case .closed:
            let isConnect: Bool
            let who: String
            switch error.operation {
            case .proxy: (isConnect, who) = (true, "it")
            case .connect, .handshake: (isConnect, who) = (true, "the server")
            case .resolve, .send, .receive: (isConnect, who) = (false, "the server")
            }
            self.init(
                .retry, "closed", "\(subject): \(who) closed the connection",
                connect: isConnect ? .refused : nil)
        case .unexpectedEOF:
            self.init(
                .retry, "truncated",
                "\(subject): tls ended without a proper close, so the end of the file may be missing")
        case .tls(let failure):
            if failure.isCertificate {
                let advice =
                    switch failure.kind {
                    case .unknownAuthority, .selfSigned: "; if you trust it, name its authority with --cacert"
                    case .expired, .notYetValid: "; check the clock, or tell the server's owner"
                    default: ""
                    }
                self.init(.never, "certificate", "\(subject): \(failure.text)\(advice)")
                certificate = failure.isAboutTime ? .time : .identity
            } else {
                self.init(
                    failure.kind == .protocolTooOld ? .never : .retry, "tls", "\(subject): \(failure.text)",
                    connect: .refused)
            }
        case .malformed(let message):
            self.init(.retry, "malformed", "\(subject): \(message)")
        case .badHost(let words):
            self.init(.never, "host", "\(subject): \(words)")
        case .tooManyInterim:
            self.init(.retry, "malformed", "\(subject): interim answers without end")
        case .refused(let refusal):
            self.init(tunnel: refusal, by: subject)
        }
    }

    /// A proxy that does not open a tunnel. Whatever it says, the origin has said nothing of the file.
    private init(tunnel refusal: ProxyRefusal, by subject: String) {
        // Who answers a CONNECT with 401 means 407, since the origin has not been asked yet.
        if refusal.status == 407 || refusal.status == 401 {
            self.init(proxy: subject, answered: refusal.status, hadCredentials: refusal.hadCredentials)
            return
        }
        let remedy: Remedy =
            switch disposition(ofStatus: refusal.status) {
            case .retry: .retry
            case .later, .never, .gone: .later
            }
        // A gateway that reached nobody is a failed connect to the host (RFC 9110 15.6.3, 15.6.5).
        let isGateway = refusal.status == 502 || refusal.status == 503 || refusal.status == 504
        self.init(
            remedy, "proxy", "\(subject) answered \(refusal.status) to the request for a tunnel",
            connect: isGateway ? .refused : nil)
    }

    /// A proxy that wants to know who asks (RFC 9110 15.5.8).
    private init(proxy subject: String, answered status: Int, hadCredentials: Bool) {
        self.init(
            .retry, "proxy",
            "\(subject) answered \(status): "
                + (hadCredentials
                    ? "it does not take the user and password of its URL"
                    : "it wants a user and a password; write them into its URL, http://USER:PASSWORD@HOST:PORT")
        )
    }

    /// A redirect that is not followed.
    init(redirect obstacle: Redirects.Obstacle, from url: HTTPURL) {
        let host = url.origin.authority
        switch obstacle {
        case .noLocation: self.init(.never, "redirect", "\(host): a redirect that does not say where to")
        case .badLocation(let words): self.init(.never, "redirect", "\(host): a redirect to no URL: \(words)")
        case .unsupportedScheme(let scheme):
            self.init(.never, "redirect", "\(host): a redirect to \(scheme):, which is not http or https")
        case .downgrade(let target):
            self.init(.never, "redirect", "\(host): a redirect from https to \(target) is refused")
        case .tooMany: self.init(.never, "redirect", "\(host): more than \(Redirects.limit) redirects")
        }
    }

    /// An answer that brings no file.
    ///
    /// - Parameter proxy: who handed the request on and may have answered itself.
    init(refusal: Refusal, head: ResponseHead, at url: HTTPURL, from proxy: Proxy?, now: Int64) {
        let host = url.origin.authority
        switch refusal {
        case .status(407):
            if let proxy {
                self.init(
                    proxy: proxy.subject, answered: 407, hadCredentials: proxy.authorization != nil)
            } else {
                self.init(.never, "407", "\(host): the origin answered 407, which only a proxy may")
            }
        case .status(401) where proxy?.isAuthorOfRefusal(head) == true:
            self.init(proxy: proxy?.subject ?? host, answered: 401, hadCredentials: true)
        case .status(let status):
            let words =
                head.reason.isEmpty
                ? "\(status)" : "\(status) \(head.reason.prefix(60).filter { !$0.isNewline })"
            let remedy: Remedy =
                switch disposition(ofStatus: status) {
                case .retry: .retry
                case .later: .later
                case .never: .never
                case .gone: .gone
                }
            self.init(remedy, "\(status)", "\(host) answered \(words)")
            guard remedy == .retry || remedy == .later else { return }
            // What is no delay is ignored (RFC 9110 10.2.3).
            if let seconds = head.value("retry-after").flatMap({ parseRetryAfter($0, now: now) }) {
                wait = min(seconds, notBeforeLimit)
            }
        case .coded(let coding):
            self.init(
                .never, "coded",
                "\(host) sends it with Content-Encoding: \(coding), which nobody asked for; --accept-coded takes it as it comes"
            )
        case .portal:
            self.init(
                .later, "portal",
                "\(host) sends an html page where the name says otherwise: a captive portal? --accept-html takes it"
            )
        case .unaskedNotModified:
            self.init(.retry, "malformed", "\(host) answered 304 to a request without a condition")
        case .useless(let objection):
            self.init(.retry, "malformed", "\(host): the answer cannot be used: \(objection.rawValue)")
        }
    }
}

extension Proxy {
    /// Whether a 401 is its own: tinyproxy answers so to a password that it does not take. What it hands on has a Via
    /// (RFC 9110 7.6.3).
    fileprivate func isAuthorOfRefusal(_ head: ResponseHead) -> Bool {
        authorization != nil && head.value("via") == nil
            && head.value("server")?.lowercased().hasPrefix("tinyproxy") == true
    }
}

/// Runs something that touches the disk, its errors as setbacks.
func onDisk<Result>(_ body: () throws(SystemError) -> Result) throws(Setback) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw Setback(storage: error)
    }
}
