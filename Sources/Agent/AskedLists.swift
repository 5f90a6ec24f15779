import Posix
import Storage

/// What the ledger calls a manifest: its absolute path; `-` for standard input and for what else is read once, such as
/// a shell's `<(...)`. Of these the last one stands.
package func manifestName(_ path: String) -> String {
    if path == "-" { return path }
    let name = absolutePath(path)
    return name.hasPrefix("/dev/") || name.hasPrefix("/proc/") ? "-" : name
}

extension RunContext {
    /// Notes that these manifests are being read: should the run be cut off, nobody takes what was known of them for
    /// all that they ask for.
    func begin(_ manifests: [String]) throws(SyncError) {
        let now = wallSeconds()
        try inLedger { (ledger) throws(LedgerError) in
            for path in manifests { try ledger.beginManifest(manifestName(path), now: now) }
        }
    }

    /// Notes what the manifests ask for, now that all of them were read. The keys are written only when they are not
    /// those that the ledger has, in blocks, so that nobody waits long for the ledger.
    func end(_ manifests: borrowing Manifests, _ reader: inout LedgerReader) throws(SyncError) {
        var known: [String: ManifestRow] = [:]
        do throws(LedgerError) {
            for row in try reader.manifests() { known[row.path] = row }
        } catch {
            throw .ledger(error)
        }
        for (path, names) in manifests.names {
            let flaws = names.reduce(0) { $0 + (manifests.flaws[$1] ?? 0) }
            var sum = KeySum()
            for name in names { manifests.seen.forEachKey(of: name) { sum.add($0) } }
            var list = known[path]?.list
            if list == nil || known[path]?.sum != sum { list = try write(manifests, names) }
            try inLedger { (ledger) throws(LedgerError) in
                try ledger.endManifest(path, flaws: flaws, sum: sum, list: list)
            }
        }
    }

    /// Writes a new list of keys and returns its number; it is no manifest's yet.
    private func write(_ manifests: borrowing Manifests, _ names: [String]) throws(SyncError) -> Int64 {
        var list: Int64 = 0
        var part = 0
        var keys: [Key] = []
        keys.reserveCapacity(keysPerPart)
        var failure: SyncError?
        func flush() {
            do throws(SyncError) {
                try inLedger { (ledger) throws(LedgerError) in
                    if list == 0 { list = try ledger.nextList() }
                    try ledger.addPart(part, of: list, keys)
                }
            } catch {
                failure = error
            }
            part += 1
            keys.removeAll(keepingCapacity: true)
        }
        for name in names {
            manifests.seen.forEachKey(of: name) { key in
                keys.append(key)
                if keys.count == keysPerPart, failure == nil { flush() }
            }
        }
        if failure == nil { flush() }
        if let failure { throw failure }
        return list
    }

    private func inLedger(
        _ body: (inout LedgerTransaction) throws(LedgerError) -> Void
    ) throws(SyncError) {
        do throws(LedgerError) {
            try keeper.transaction(body)
        } catch {
            throw .ledger(error)
        }
    }
}
