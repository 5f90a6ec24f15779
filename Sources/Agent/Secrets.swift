import Storage
import Wire

extension Job {
    /// What was told in confidence with this job's requests and what no message may repeat, whoever echoes it: a
    /// server chooses the reason phrase and the field values that messages quote.
    func secrets(_ options: SyncOptions) -> Secrets {
        var secrets = Secrets()
        for url in [entry.url] + entry.mirrors { secrets.add(url) }
        // Fields that say how we would like the answer are no secrets.
        let plain = ["accept", "accept-language", "user-agent", "referer"]
        for field in options.headers + entry.headers where !plain.contains(field.name.lowercased()) {
            secrets.add(credentials: field.value)
        }
        for proxy in [options.proxies.http, options.proxies.https] {
            if let value = proxy?.authorization { secrets.add(credentials: value) }
        }
        if let login = options.netrc?.login(for: entry.url.origin.bareHost) {
            secrets.add(user: login.user, password: login.password)
        }
        return secrets
    }
}

/// Texts to be kept out of messages.
struct Secrets: Sendable {
    /// Shorter ones are in every text by chance.
    private static let shortest = 4
    private var texts: Set<String> = []

    private mutating func add(_ text: some StringProtocol) {
        if text.utf8.count >= Self.shortest { texts.insert(String(text)) }
    }

    /// A URL's userinfo and the values in its query that look like a secret.
    mutating func add(_ url: HTTPURL) {
        if let userinfo = url.userinfo { add(userinfo) }
        if let own = url.basicCredentials { add(user: own.user, password: own.password) }
        for value in url.secretValues { add(value) }
    }

    mutating func add(user: [UInt8], password: [UInt8]) {
        add(String(decoding: password, as: UTF8.self))
        add(credentials: basicAuthorization(user: user, password: password))
    }

    /// The value of a field, and what stands behind its scheme (RFC 9110 11.4).
    mutating func add(credentials value: String) {
        add(value)
        if let blank = value.firstIndex(of: " ") { add(value[value.index(after: blank)...]) }
    }

    /// The text with `***` in the place of each.
    func hidden(in text: String) -> String {
        // The longest first, so that no part of one stays behind.
        texts.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
            .reduce(text) { $0.replacing($1, with: "***") }
    }
}
