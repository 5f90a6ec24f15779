import Posix
import Storage
import Synchronization

/// A partial that a worker writes and the storage threads record: the file, and what is true of it now.
///
/// The file closes with the last reference, so a thread that is syncing it can never meet a reused number.
final class ActivePartial: Sendable {
    let file: PartialFile
    private let progress: Mutex<Progress>

    var name: String { file.name }

    /// What is true of the bytes, and what the ledger was told.
    struct Progress: Sendable {
        var row: PartialRow
        /// The ledger has a row of this name.
        var isRecorded: Bool
        /// `written` and `durable` as the ledger has them.
        var recordedWritten: UInt64
        var recordedDurable: UInt64

        var isDirty: Bool { recordedWritten != row.written || recordedDurable != row.durable }
    }

    init(file: PartialFile, row: PartialRow, isRecorded: Bool) {
        self.file = file
        progress = Mutex(
            Progress(
                row: row, isRecorded: isRecorded, recordedWritten: isRecorded ? row.written : 0,
                recordedDurable: isRecorded ? row.durable : 0))
    }

    /// Appends bytes and tells the new length with the digest's state at it. Only its worker calls it.
    func append(_ bytes: UnsafeRawBufferPointer, digestState: () -> [UInt8]?) throws(SystemError) {
        try file.append(bytes)
        let length = file.size
        progress.withLock { progress in
            progress.row.written = length
            // After the last byte nobody goes on from this state.
            progress.row.digestState = progress.row.total == length ? nil : digestState()
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
        let before = progress.withLock { $0.row.written }
        try file.syncData()
        progress.withLock { $0.row.durable = max($0.row.durable, min(before, $0.row.written)) }
    }

    /// Reads or changes what is true of it.
    func withProgress<Result: Sendable>(_ body: (inout sending Progress) -> sending Result) -> Result {
        progress.withLock(body)
    }

    /// The row as it is now.
    var snapshot: PartialRow { progress.withLock { $0.row } }
}
