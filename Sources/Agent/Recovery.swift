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
    var useless: [String] = []
    do {
        let publications = try reader.publications()
        var named: Set<String> = []
        var finished: Set<Key> = []
        for name in publications.flatMap(\.partials) {
            named.insert(name)
            if let key = try finish(name, cache: cache, reader: &reader) { finished.insert(key) }
        }
        if !named.isEmpty { try cache.syncTop() }
        for row in try reader.allPartials() {
            // What was published makes any other partial of its key useless.
            if named.contains(row.name) || finished.contains(row.key) {
                useless.append(row.name)
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
        let rows = kept.values
        if !publications.isEmpty || !useless.isEmpty || !rows.isEmpty {
            try writer.transaction(durable: true) { (ledger) throws(LedgerError) in
                for publication in publications { try ledger.endPublication(publication.identifier) }
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
/// name. Its entry says already what the file is; an entry that describes something else is found out by the sizes,
/// inodes and digests that each run compares.
///
/// - Returns: the key whose file is in its place now.
private func finish(_ name: String, cache: CacheFolder, reader: inout LedgerReader) throws -> Key? {
    guard let key = Key(hex: name.prefix(32)), let entry = try reader.entry(for: key), let copy = entry.copy
    else {
        return nil
    }
    func isIt(_ status: FileStatus?) -> Bool {
        status?.kind == .regular && status?.inode == copy.inode && status?.size == copy.size
    }
    if isIt(try cache.partials.status(of: name)) {
        do throws(SystemError) {
            try cache.publish(partialNamed: name, as: entry.fileName)
            return key
        } catch {
            // What stands in the way stops this entry, not the run; its transfer will say so.
            if error.isAboutTarget { return nil }
            throw error
        }
    }
    return isIt(try cache.status(of: entry.fileName)) ? key : nil
}

/// Of two partials of one key, whether the newer is worth more: it is of another version that can be gone on with,
/// or it has come as far.
func prefers(newer: PartialRow, to older: PartialRow) -> Bool {
    if newer.validators.strong != nil, newer.validators.strong != older.validators.strong { return true }
    return newer.written >= older.written
}
