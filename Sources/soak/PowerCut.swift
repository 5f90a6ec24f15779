internal import CLinux
internal import Posix
internal import Storage

/// What a power cut may do to the unfinished files of a run that was killed: all bytes that the ledger does not call
/// durable are lost, to zeros or to nothing, and the kernel is another one.
///
/// Renames and the ledger itself keep what they have here: a cut that takes those needs a device that can be cut.
func cutPower(_ cache: String, _ chance: inout Chance) throws(Finding) {
    guard access(cache + "/.syncagent/partial", F_OK) == 0 else { return }
    let rows: [PartialRow]
    do throws(LedgerError) {
        guard var reader = try LedgerReader.open(cache: cache) else { return }
        rows = try reader.allPartials()
    } catch {
        throw Finding("the ledger cannot be read: \(error.reason)")
    }
    do throws(SystemError) {
        let folder = try Folder(opening: cache + "/.syncagent/partial")
        for row in rows {
            guard let status = try folder.status(of: row.name), status.size > row.durable else { continue }
            let file = try folder.open(writing: row.name)
            if chance.permille(500) { try file.truncate(to: row.durable) }
            if chance.permille(700) { try file.truncate(to: max(status.size, row.total ?? 0)) }
        }
    } catch {
        throw Finding("the partials cannot be damaged: \(error.reason)")
    }
    do throws(DatabaseError) {
        let ledger = try Database(opening: cache + "/.syncagent/state.db", .readWrite, patience: 2000)
        try ledger.execute("UPDATE partial SET boot = 'another'", "forgetting the kernel")
    } catch {
        throw Finding("the ledger cannot be changed: \(error.message)")
    }
}

/// What a killed process alone may leave: bytes behind those that the ledger knows, of whatever kind.
func litter(_ cache: String, _ chance: inout Chance) throws(Finding) {
    guard access(cache + "/.syncagent/partial", F_OK) == 0 else { return }
    do {
        let folder = try Folder(opening: cache + "/.syncagent/partial")
        var names: [String] = []
        try folder.forEachName { name throws(SystemError) in names.append(name) }
        for name in names.sorted() where chance.permille(500) {
            let file = try folder.open(writing: name)
            let status = try file.status()
            let bytes = [UInt8](repeating: 0x2A, count: chance.number(in: 1..<20_000))
            try bytes.withUnsafeBytes { try file.write(all: $0, at: status.size) }
        }
    } catch {
        throw Finding("the partials cannot be littered: \(error)")
    }
}
