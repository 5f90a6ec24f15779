internal import Posix
internal import Reconcile
internal import Storage

/// The cache as it can be seen without changing anything in it: nothing is created, locked for long or repaired.
struct CacheView: ~Copyable {
    let path: String
    /// Nil when there is no ledger yet.
    var ledger: LedgerReader?
    private let top: Folder?
    private let state: Folder?
    private let partials: Folder?

    init(path: String) throws(CommandError) {
        self.path = path
        do throws(LedgerError) {
            ledger = try LedgerReader.open(cache: path)
        } catch {
            throw CacheView.failure(error)
        }
        top = CacheView.existing { () throws(SystemError) in try Folder(opening: path) }
        state = CacheView.existing { () throws(SystemError) in try Folder(opening: path + "/.syncagent") }
        partials = CacheView.existing { () throws(SystemError) in
            try Folder(opening: path + "/.syncagent/partial")
        }
    }

    private static func existing(_ open: () throws(SystemError) -> Folder) -> Folder? {
        do throws(SystemError) {
            return try open()
        } catch {
            // What cannot be opened cannot be counted; the ledger's own opening says what is wrong with a cache.
            return nil
        }
    }

    /// Why the ledger could not be read, and what to do.
    static func failure(_ error: LedgerError) -> CommandError {
        let what = "\(error.path): \(error.reason)"
        switch error.kind {
        case .newer: return CommandError(.cannotCreate, what)
        case .unusable: return CommandError(.cannotCreate, what)
        case .busy: return CommandError(.tryAgain, what)
        case .damaged:
            return CommandError(.inputOutput, "\(what); the next sync sets it aside and begins a new one")
        case .full, .failed: return CommandError(.inputOutput, what)
        }
    }

    /// Whether a run is at work on this cache.
    var isRunning: Bool {
        do throws(SystemError) {
            return try state?.isLocked("lock") ?? false
        } catch {
            // A lock that may not be read (another user's cache) is not known to be held.
            return false
        }
    }

    /// Whether the file that the ledger describes is there: regular, links not followed, and of its size.
    borrowing func isComplete(_ row: EntryRow) -> Bool {
        guard let copy = row.copy else { return false }
        do throws(SystemError) {
            guard let status = try top?.status(of: row.fileName) else { return false }
            return status.kind == .regular && status.size == copy.size
        } catch {
            return false
        }
    }

    /// Bytes of a partial that a run can build upon, by ledger and disk.
    borrowing func usableBytes(of row: PartialRow, isRunning: Bool) -> UInt64 {
        // A crash between rename and record leaves a whole file under its final name and this row.
        let published = row.ready?.size ?? (isRunning ? row.written : 0)
        do throws(SystemError) {
            guard let file = try partials?.open(reading: row.name) else { return published }
            let status = try file.status()
            guard status.kind == .regular else { return 0 }
            return trustedLength(
                written: row.written, durable: row.durable, storedBoot: row.bootIdentifier,
                storedMount: row.mountIdentifier, boot: bootIdentifier(), mount: mountIdentifier(of: file),
                fileSize: status.size) ?? 0
        } catch {
            return error.isMissing ? published : 0
        }
    }
}
