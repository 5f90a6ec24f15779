import Posix
import Storage

/// The ledger at the start of a run: open, in agreement with the folder, and with a row for the run.
struct OpenedLedger: ~Copyable {
    let writer: LedgerWriter
    let reader: LedgerReader
    /// What may be built upon, by key.
    let partials: [Key: PartialRow]
    let run: RunRow

    private init(
        writer: consuming LedgerWriter, reader: consuming LedgerReader, partials: [Key: PartialRow],
        run: RunRow
    ) {
        self.writer = writer
        self.reader = reader
        self.partials = partials
        self.run = run
    }

    /// Opens it, under the lock. Damage that shows only now makes a new one at once: nothing was done yet.
    ///
    /// - Parameter isRun: false leaves no row of a run.
    static func open(
        in cache: CacheFolder, isRun: Bool = true, notice: (Notice) -> Void
    ) throws(SyncError) -> OpenedLedger {
        do throws(SyncError) {
            return try openOnce(in: cache, isRun, notice: notice)
        } catch {
            guard case .ledger(let cause) = error, cause.kind == .damaged else { throw error }
            cache.condemn(cause)
        }
        return try openOnce(in: cache, isRun, notice: notice)
    }

    private static func openOnce(
        in cache: CacheFolder, _ isRun: Bool, notice: (Notice) -> Void
    ) throws(SyncError) -> OpenedLedger {
        var writer = try openWriter(in: cache)
        if case .rebuilt(let aside) = writer.opening {
            notice(
                .general(
                    "the ledger was damaged; it is kept as \(cache.state.path)/\(aside), and a new one is being filled from the cache"
                ))
        }
        var reader = try openReader(in: cache)
        let partials = try recover(cache: cache, writer: &writer, reader: &reader)
        var run = RunRow(identifier: 0, started: wallSeconds())
        guard isRun else {
            return OpenedLedger(writer: writer, reader: reader, partials: partials, run: run)
        }
        do throws(LedgerError) {
            run.identifier = try writer.transaction(durable: false) { (ledger) throws(LedgerError) in
                try ledger.startRun(run)
            }
        } catch {
            throw .ledger(error)
        }
        return OpenedLedger(writer: writer, reader: reader, partials: partials, run: run)
    }

    private static func openWriter(in cache: CacheFolder) throws(SyncError) -> LedgerWriter {
        do throws(LedgerError) {
            return try LedgerWriter.open(in: cache.state)
        } catch {
            throw .ledger(error)
        }
    }

    private static func openReader(in cache: CacheFolder) throws(SyncError) -> LedgerReader {
        do throws(LedgerError) {
            guard let reader = try LedgerReader.open(in: cache.state) else {
                throw LedgerError(.failed, path: cache.path, reason: "the ledger is gone")
            }
            return reader
        } catch {
            throw .ledger(error)
        }
    }
}
