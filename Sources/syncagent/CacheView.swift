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

    /// - Parameter ledger: the ledger's folder, when it is not the cache's own.
    init(path: String, ledger folder: String? = nil) throws(CommandError) {
        let top = try CacheView.folder(path)
        let state = try CacheView.folder(path + "/.syncagent")
        let partials = try CacheView.folder(path + "/.syncagent/partial")
        let ledger = try CacheView.ledger(path, folder)
        self.path = path
        self.ledger = ledger
        self.top = top
        self.state = state
        self.partials = partials
    }

    private static func ledger(
        _ path: String, _ folder: String?
    ) throws(CommandError) -> LedgerReader? {
        do throws(LedgerError) {
            return try LedgerReader.open(cache: path, ledger: folder)
        } catch {
            throw failure(error)
        }
    }

    /// Nil when it does not exist.
    private static func folder(_ path: String) throws(CommandError) -> Folder? {
        do throws(SystemError) {
            return try Folder(opening: path)
        } catch {
            if error.isMissing { return nil }
            throw CommandError(
                .cannotCreate, "cannot use \(path): \(error.reason); name another folder with --cache")
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
        // In a run it may have got its final name since the row was read.
        let published = isRunning ? row.written : 0
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
