import Posix
import Reconcile
import Storage
import Synchronization
import Transport
import Wire

/// One try at one entry: request, body, check. It reads from top to bottom; the rules are in Reconcile.
///
/// The effects are the connection's and the partial's; what the run as a whole must know is handed to `Sync`.
struct Transfer: ~Copyable {
    let context: RunContext
    /// The run's network, for connections that end when this worker's transfer is to end.
    let network: Network
    /// Raised when the run is, or when this one transfer is to be put aside.
    let stop: Stop
    /// Reused for every body of this worker; its size is the size of the writes.
    let buffer: UnsafeMutableRawBufferPointer
    var request: [UInt8] = []
    /// Bytes that this worker may write before it looks again how much room there is.
    var knownRoom: UInt64 = 0

    init(context: RunContext, stop: Stop) {
        self.context = context
        self.stop = stop
        network = context.network.ending(by: stop)
        buffer = .allocate(byteCount: 1 << 20, alignment: 4096)
        request.reserveCapacity(4096)
    }

    deinit { buffer.deallocate() }

    /// How a try ended well.
    enum Success: Sendable {
        /// Nothing had to be fetched; the row may have learnt something.
        case current
        /// Handed to the keeper, which tells when it has its name.
        case handedIn
        /// Broken off or only a part: the bytes that came are kept; go on.
        case unfinished(Setback?)
    }

    /// Tries the job's current URL once.
    mutating func attempt(
        _ job: Job, over connection: inout Connection?
    ) throws(Setback) -> Success {
        job.reached = 0
        var copy = try provenCopy(job)
        var redirects = Redirects(from: job.url)
        var mustAskWhole = job.asksPastCaches
        while true {
            let now = wallSeconds()
            // A partial may be gone on with only where its bytes came from.
            let hop = redirects.current
            var partial = job.partial?.source == hop.source && !mustAskWhole ? job.partial?.facts : nil
            var asked =
                mustAskWhole
                ? .whole
                : ask(
                    entry: job.facts, copy: copy, partial: partial,
                    ignoresIfRange: context.habits.ignoresIfRange(hop.origin), now: now)
            if case .nothing = asked { return .current }
            if asked == .check {
                if let success = try publishHeld(job) { return success }
                (partial, asked) = (nil, .whole)
            }

            let head: ResponseHead
            do throws(Setback) {
                head = try exchange(asked, of: job, redirects: redirects, over: &connection)
            } catch {
                if error.remedy != .stopped { context.counters.answered(nil) }
                throw error
            }
            context.counters.answered(head.status)
            let length: UInt64? =
                if case .length(let length)? = connection?.framing?.body { length } else { nil }
            let answer = AnswerFacts(head: head, length: length, now: now)
            if answer.isTrustworthy(asked: asked) { context.suspect { $0.sawGoodAnswer() } }
            let verdict = judge(
                asked: asked, answer: answer, entry: job.facts, partial: partial ?? job.partial?.facts,
                copy: copy)

            switch verdict {
            case .redirect:
                try drain(&connection)
                do throws(Redirects.Obstacle) {
                    try redirects.follow(head.value("location"))
                } catch {
                    throw Setback(redirect: error, from: hop)
                }
            case .askWhole(let objection):
                try drain(&connection)
                job.remark("\(objection.rawValue); asking for the whole file")
                if objection == .notModifiedWrong { copy?.validators = Validators() }
                mustAskWhole = true
            case .prove(let total):
                try drain(&connection)
                job.partial?.total = total
            case .current:
                try drain(&connection)
                job.confirmed(by: head, isHome: job.isHome(hop), now: now)
                return .current
            case .proven:
                try drain(&connection)
                if let success = try publishHeld(job) { return success }
                mustAskWhole = true
            case .refuse(let refusal):
                if refusal == .portal || refusal == .status(511) {
                    let witness = job.maskedURL
                    context.suspect { $0.sawPortal(witness) }
                }
                let setback = Setback(
                    refusal: refusal, head: head, at: hop, from: connection?.route.forwarder, now: now)
                try drain(&connection)
                throw setback
            case .askRestAlone:
                connection = nil
                context.habits.noteIgnoresIfRange(hop.origin)
            case .append(let end, let total):
                let body = WantedBody(
                    continuing: true, end: end, total: total, answer, head, hop, isHome: job.isHome(hop),
                    job.facts, now)
                return try receive(job, body, over: &connection)
            case .replace(let total):
                if let held = job.partial {
                    let isOther = differs(answer.validators, from: held.validators)
                    job.restarted(
                        "the server sent the whole file: \(asked == .whole ? "it was asked to" : "the version changed or ranges are ignored")"
                    )
                    guard job.budget.restarted(isOtherVersion: isOther) else {
                        connection = nil
                        throw Setback(
                            .later, "restarts",
                            "it started over \(RetryBudget.restartLimit) times in this run")
                    }
                }
                let body = WantedBody(
                    continuing: false, end: total, total: total, answer, head, hop, isHome: job.isHome(hop),
                    job.facts, now)
                return try receive(job, body, over: &connection)
            }
        }
    }
}

extension WantedBody {
    init(
        continuing: Bool, end: UInt64?, total: UInt64?, _ answer: AnswerFacts, _ head: ResponseHead,
        _ hop: HTTPURL, isHome: Bool, _ entry: EntryFacts, _ now: Int64
    ) {
        isContinuation = continuing
        self.end = end
        self.total = total
        self.answer = answer
        freshness = ServerFreshness(
            head: head, isOwnOrigin: isHome, isSurprisingHTML: answer.isHTML && !entry.namesHTML,
            now: now)
        // A coded body is not what a digest of the plain file is of, and the other way round.
        digest = answer.coding.isEmpty ? Checksum.serverDigest(in: head, isWhole: !continuing) : nil
        source = hop.source
    }
}
