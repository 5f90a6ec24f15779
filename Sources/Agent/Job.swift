import Reconcile
import Storage
import Wire

/// One entry on its way through a run.
///
/// It has one owner at any time, a queue or a worker, and is handed on through the scheduler's lock; that is what makes
/// it safe to send, and cheap.
final class Job: @unchecked Sendable {
    let entry: Entry
    let facts: EntryFacts
    /// What the ledger said at the start, updated as the run learns more.
    var row: EntryRow
    /// The copy is there with another time or inode, or must be hashed for the manifest's checksum.
    var copyNeedsProof: Bool
    /// A file stands at the name but the ledger knows nothing of it.
    var mayAdopt: Bool
    /// The bytes held; its file is closed between tries.
    var partial: PartialRow?

    var budget: RetryBudget
    /// How far the present try has brought the representation, in bytes; 0 as long as it brought no body.
    var reached: UInt64 = 0
    /// 0 is the entry's own URL, then its mirrors in turn.
    var source = 0
    /// What the sources before this one said.
    var worst: Setback?
    /// Why the last try did not bring the file; nil before that.
    var setback: Setback?
    /// Past every cache: the last bytes were wrong.
    var asksPastCaches = false
    /// A checksum was wrong already and the same URL was asked again.
    var wasAskedAgain = false
    /// Seconds that Retry-After may still take without costing a try.
    var patience = retryAfterPatience
    /// The copy was confirmed by its origin; its row knows when.
    var isConfirmed = false
    /// The row has changed otherwise since the ledger wrote it.
    var isRowDirty = false

    init(entry: Entry, facts: EntryFacts, row: EntryRow, partial: PartialRow?, retries: Int) {
        self.entry = entry
        self.facts = facts
        self.row = row
        self.partial = partial
        copyNeedsProof = false
        mayAdopt = false
        budget = RetryBudget(retries: retries, held: partial?.written ?? 0)
    }

    /// The URL to ask now.
    var url: HTTPURL { source == 0 ? entry.url : entry.mirrors[source - 1] }
    /// Whether a URL has the origin of the entry itself, which the manifest's header fields are for.
    func isHome(_ url: HTTPURL) -> Bool { url.origin == entry.url.origin }
    /// The run before did not get through to its host.
    var wasUnreachable: Bool { row.failure.map { Setback.unreachableReasons.contains($0.reason) } ?? false }
    /// Masked, for messages.
    var maskedURL: String { row.url }
}

/// Why a try did not bring the file.
struct Setback: Error, Sendable {
    /// What the caller can do about it.
    enum Remedy: Sendable {
        /// Ask again in this run, within the tries.
        case retry
        /// Leave it for another run.
        case later
        /// Nothing: it failed for good (unless a mirror has it).
        case never
        /// The origin has it no more; a copy stays.
        case gone
        /// The run is being stopped.
        case stopped
        /// There is no room for this file, or it is larger than a file may be; others may fit.
        case tooLarge
        /// The disk or the ledger fails, and the run ends: nothing more could be kept.
        case disk
    }

    var remedy: Remedy
    /// A short word that groups failures.
    var reason: String
    /// The sentence, without the URL.
    var message: String
    /// Seconds that the origin asked to be left alone for.
    var wait: Int64?
    /// The host that is left for this run, which is told once for all its entries.
    var leftHost: String?
    /// What it says about the network, when it was a connect that failed.
    var connect: ConnectFailure?
    /// What is wrong with the certificate, when that is why.
    var certificate: CertificateDoubt?

    enum CertificateDoubt: Sendable { case time, identity }

    /// The reasons that say that nobody was there.
    static let unreachableReasons: Set<String> = [
        "unreachable", "timeout", "no route", "no name service", "unknown host",
    ]

    init(
        _ remedy: Remedy, _ reason: String, _ message: String, connect: ConnectFailure? = nil
    ) {
        self.remedy = remedy
        self.reason = reason
        self.message = message
        self.connect = connect
    }
}
