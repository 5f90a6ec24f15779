/// Judges from what comes in a row whether somebody between us and the world answers for everybody: a captive
/// portal, or a clock of ours that makes every certificate invalid.
///
/// One odd server is no portal: a suspicion needs two witnesses with nothing trustworthy between them.
package struct Suspicions: Hashable, Sendable {
    /// What the run should say and do.
    package enum Finding: Hashable, Sendable {
        case portal
        case clock
    }

    private var portalWitnesses: Set<String> = []
    private var clockWitnesses: Set<String> = []
    private var pages: [[UInt8]: String] = [:]
    private var hasMetATrustedServer = false
    package private(set) var finding: Finding?

    package init() {}

    /// Html came where the name says otherwise, or a 511 (RFC 6585 6). `witness` is the URL.
    package mutating func sawPortal(_ witness: String) {
        portalWitnesses.insert(witness)
        if portalWitnesses.count >= 2 { finding = .portal }
    }

    /// A complete html body at a name that says nothing about its kind, by its digest; true when another URL had the
    /// very same page.
    package mutating func sawPage(_ digest: [UInt8], at witness: String) -> Bool {
        // A manifest may hold thousands of pages; a portal shows itself at once.
        if pages.count >= 256 { return false }
        guard let other = pages[digest], other != witness else {
            pages[digest] = witness
            return false
        }
        portalWitnesses.insert(other)
        sawPortal(witness)
        return true
    }

    /// A certificate was refused. `host` is the witness.
    package mutating func sawBadCertificate(host: String, isAboutTime: Bool) {
        if isAboutTime {
            clockWitnesses.insert(host)
            if clockWitnesses.count >= 2, !hasMetATrustedServer { finding = .clock }
        } else {
            portalWitnesses.insert(host)
            // Names that do not fit everywhere are a portal's too; they need more than two, since a farm of hosts may
            // share one bad certificate.
            if portalWitnesses.count >= 3 { finding = .portal }
        }
    }

    /// A certificate was good: the clock is right.
    package mutating func sawGoodCertificate() {
        hasMetATrustedServer = true
        clockWitnesses = []
        if finding == .clock { finding = nil }
    }

    /// An answer of the kind that was asked for came through.
    package mutating func sawGoodAnswer() { portalWitnesses = [] }
}
