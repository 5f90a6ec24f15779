import Posix
import Reconcile
import Storage
import Wire

/// Brings ledger and folder to one story at the start of a run, under the lock (one test per row of "what disk and
/// ledger may say").
///
/// - Returns: the partials that may be built upon, by key.
func recover(
    cache: CacheFolder, writer: inout LedgerWriter, reader: inout LedgerReader
) throws(SyncError) -> [Key: PartialRow] {
    let boot = bootIdentifier()
    let mount = cache.partials.mountIdentifier()
    var kept: [Key: PartialRow] = [:]
    var published: [(row: EntryRow, partial: String)] = []
    var useless: [String] = []
    do {
        for row in try reader.allPartials() {
            if let ready = row.ready {
                if let entry = try finish(row, ready, cache: cache, reader: &reader) {
                    published.append((entry, row.name))
                } else {
                    useless.append(row.name)
                }
                continue
            }
            guard let status = try cache.partials.status(of: row.name), status.kind == .regular,
                let length = trustedLength(
                    written: row.written, durable: row.durable, storedBoot: row.bootIdentifier,
                    storedMount: row.mountIdentifier, boot: boot, mount: mount, fileSize: status.size)
            else {
                useless.append(row.name)
                continue
            }
            var row = row
            if length != row.written { row.digestState = nil }
            (row.written, row.durable) = (length, min(row.durable, length))
            (row.bootIdentifier, row.mountIdentifier) = (boot, mount)
            if let other = kept[row.key] {
                // A crash between the birth of a new partial and the end of the old one leaves both.
                let isNewer = prefers(newer: row, to: other)
                useless.append(isNewer ? other.name : row.name)
                if !isNewer { continue }
            }
            kept[row.key] = row
        }
        // A ready partial that was published makes any other of its key useless.
        for (entry, _) in published {
            if let row = kept.removeValue(forKey: entry.key) { useless.append(row.name) }
        }
        if !published.isEmpty { try cache.syncTop() }
        let rows = kept.values
        if !published.isEmpty || !useless.isEmpty || !rows.isEmpty {
            try writer.transaction(durable: true) { (ledger) throws(LedgerError) in
                for (entry, partial) in published {
                    try ledger.save(entry)
                    try ledger.deletePartial(partial)
                }
                for name in useless { try ledger.deletePartial(name) }
                for row in rows { try ledger.save(row) }
            }
        }
        _ = try cache.sweepPartials(known: Set(rows.map(\.name)))
    } catch let error as LedgerError {
        throw .ledger(error)
    } catch let error as SystemError {
        throw .storage(error)
    } catch {
        throw .configuration("\(error)")
    }
    return kept
}

/// Finishes a publication that a crash cut short after "all bytes are durable": renames what still has its partial
/// name, adopts what has its final name already. nil when neither is there.
private func finish(
    _ row: PartialRow, _ ready: CopyRow, cache: CacheFolder, reader: inout LedgerReader
) throws -> EntryRow? {
    guard var entry = try reader.entry(for: row.key) else { return nil }
    entry.copy = ready
    entry.failure = nil
    entry.isGone = false
    if let status = try cache.partials.status(of: row.name) {
        guard status.kind == .regular, status.inode == ready.inode, status.size == ready.size else {
            return nil
        }
        try cache.publish(partialNamed: row.name, as: entry.fileName)
        return entry
    }
    guard let status = try cache.status(of: entry.fileName), status.kind == .regular,
        status.inode == ready.inode, status.size == ready.size
    else { return nil }
    return entry
}

/// Of two partials of one key, whether the newer is worth more: it is of another version that can be gone on with,
/// or it has come as far.
func prefers(newer: PartialRow, to older: PartialRow) -> Bool {
    if newer.validators.strong != nil, newer.validators.strong != older.validators.strong { return true }
    return newer.written >= older.written
}
