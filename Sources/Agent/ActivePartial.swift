import Posix
import Storage

/// A partial that a worker writes and the storage threads record: the file, and what is true of it now.
///
/// The file closes with the last reference, so a thread that is syncing it can never meet a reused number; the worker's
/// goes when the partial retires, since hundreds may wait to be published while a process may have a thousand files open.
final class ActivePartial: Sendable {
    let name: String
    private let open: Monitor<PartialFile?>
    private let progress: Monitor<Progress>

    /// The file, as long as it is written.
    var file: PartialFile {
        guard let file = open.withLock({ $0 }) else { preconditionFailure("a retired partial has no file") }
        return file
    }

    private struct Progress: Sendable {
        var row: PartialRow
        /// What the ledger was told last.
        var recorded: PartialRow?
        /// Its row is the publisher's business now.
        var isRetired = false
    }

    /// A partial that begins.
    init(file: PartialFile, row: PartialRow) {
        name = file.name
        open = Monitor(file)
        progress = Monitor(Progress(row: row, recorded: nil))
    }

    /// A partial that goes on with a further answer.
    init(file: PartialFile, continuing row: PartialRow, total: UInt64?) {
        name = file.name
        open = Monitor(file)
        var row = row
        row.answers += 1
        row.total = total ?? row.total
        progress = Monitor(Progress(row: row, recorded: nil))
    }

    /// Appends bytes and tells the new length with the digest's state at it. Only its worker calls it.
    func append(_ bytes: UnsafeRawBufferPointer, digestState: [UInt8]?) throws(SystemError) {
        try file.append(bytes)
        let length = file.size
        progress.withLock { progress in
            progress.row.written = length
            progress.row.digestState = digestState
        }
    }

    /// Cuts the file back, when the disk is full, so that the ledger has room to say so.
    func giveBack(_ bytes: UInt64) throws(SystemError) {
        let kept = file.size > bytes ? file.size - bytes : 0
        try file.truncate(to: kept)
        progress.withLock { progress in
            progress.row.written = kept
            progress.row.durable = min(progress.row.durable, kept)
            progress.row.digestState = nil
        }
    }

    /// Makes the bytes durable and notes it; what was written before the call began is what counts.
    func makeDurable() throws(SystemError) {
        guard let file = open.withLock({ $0 }) else { return }
        let before = progress.withLock { $0.row.written }
        try file.syncData()
        progress.withLock { $0.row.durable = max($0.row.durable, min(before, $0.row.written)) }
    }

    /// The row as it is now.
    var snapshot: PartialRow { progress.withLock { $0.row } }

    /// Whether bytes wait to be made durable.
    var hasVolatileBytes: Bool { progress.withLock { $0.row.durable < $0.row.written } }

    /// The row when the ledger has another one, or nothing of a partial that holds bytes. One without bytes needs
    /// no row: without one it is swept.
    var unrecorded: PartialRow? {
        progress.withLock { progress in
            progress.row.written > 0 && !progress.isRetired && progress.recorded != progress.row
                ? progress.row : nil
        }
    }

    /// The ledger has a row of this name, as far as this run knows.
    var isInLedger: Bool { progress.withLock { $0.recorded != nil || $0.row.answers > 1 } }

    /// No progress is recorded any more, and nothing is written.
    func retire() {
        progress.withLock { $0.isRetired = true }
        open.withLock { $0 = nil }
    }

    /// The ledger has this row now.
    func recorded(_ row: PartialRow) { progress.withLock { $0.recorded = row } }
}
