/// The statements for files that are read again, and for entries that go.
struct LedgerUpkeep: ~Copyable {
    var check: Statement
    var forgiveFuture: Statement
    var leave: Statement
    var stay: Statement

    static func prepare(on database: borrowing Database) throws(DatabaseError) -> LedgerUpkeep {
        LedgerUpkeep(
            check: try database.prepare(
                "UPDATE entry SET checked = ?, modified = ?, inode = ? WHERE key = ? AND size IS NOT NULL",
                "noting a check"),
            forgiveFuture: try database.prepare(
                "UPDATE entry SET checked = 0 WHERE checked > ?", "noting a check"),
            leave: try database.prepare(
                "INSERT OR IGNORE INTO leaving (key, since) VALUES (?, ?)", "noting who leaves"),
            stay: try database.prepare("DELETE FROM leaving WHERE key = ?", "noting who stays"))
    }
}

extension LedgerTransaction {
    /// A published file was read and has its digest; its time and inode are these.
    package mutating func saveCheck(
        of key: Key, at wall: Int64, modified: Int64, inode: UInt64
    ) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try upkeep.check.bind(wall)
            try upkeep.check.bind(modified)
            try upkeep.check.bind(Int64(bitPattern: inode))
            try upkeep.check.bind(key)
            try upkeep.check.run()
        }
    }

    /// Checks that a clock gone wrong dated later than this are worth nothing.
    package mutating func dropChecks(after wall: Int64) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try upkeep.forgiveFuture.bind(wall)
            try upkeep.forgiveFuture.run()
        }
    }

    /// Nobody asks for the key any more, as was first seen at this time (wall seconds).
    package mutating func noteLeaving(_ key: Key, since wall: Int64) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try upkeep.leave.bind(key)
            try upkeep.leave.bind(wall)
            try upkeep.leave.run()
        }
    }

    /// The key is asked for again, or has gone.
    package mutating func noteStaying(_ key: Key) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try upkeep.stay.bind(key)
            try upkeep.stay.run()
        }
    }
}

/// The reader's statements for manifests, checks and pauses.
struct LedgerCareReader: ~Copyable {
    var manifests: Statement
    var parts: Statement
    var unchecked: Statement
    var leaving: Statement
    var pauses: Statement
    var pauseMark: Statement
    var absent: Statement

    static func prepare(on database: borrowing Database) throws(DatabaseError) -> LedgerCareReader {
        LedgerCareReader(
            manifests: try database.prepare(
                "SELECT id, path, synced, flaws, entries, high, low, list FROM manifest ORDER BY id",
                "reading the manifests"),
            parts: try database.prepare(
                "SELECT keys FROM asked WHERE list = ? ORDER BY part", "reading a manifest's keys"),
            unchecked: try database.prepare(
                """
                SELECT \(LedgerSchema.entryColumns) FROM entry WHERE checked IS NOT NULL AND checked < ?
                ORDER BY checked LIMIT ?
                """, "reading who was checked longest ago"),
            leaving: try database.prepare("SELECT key, since FROM leaving", "reading who leaves"),
            pauses: try database.prepare(
                "SELECT id, key, pattern, subject, paused FROM pause ORDER BY id", "reading who is paused"),
            pauseMark: try database.prepare("SELECT max(id), count(*) FROM pause", "reading who is paused"),
            absent: try database.prepare(
                "SELECT key, url, state FROM entry WHERE state <> 0", "reading what is missing"))
    }
}

extension LedgerReader {
    /// All manifests that were mirrored here.
    package mutating func manifests() throws(LedgerError) -> [ManifestRow] {
        defer { care.manifests.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            var rows: [ManifestRow] = []
            while try care.manifests.step() {
                rows.append(
                    ManifestRow(
                        identifier: care.manifests.integer(), path: care.manifests.text(),
                        synced: care.manifests.integer(),
                        flaws: care.manifests.optionalInteger().map { Int($0) },
                        sum: KeySum(
                            count: Int(care.manifests.integer()),
                            high: UInt64(bitPattern: care.manifests.integer()),
                            low: UInt64(bitPattern: care.manifests.integer())),
                        list: care.manifests.optionalInteger()))
            }
            return rows
        }
    }

    /// Calls the body with each key of a manifest's list, in the manifest's order.
    package mutating func forEachKey(of list: Int64, _ body: (Key) -> Void) throws(LedgerError) {
        defer { care.parts.reset() }
        try withLedgerErrors { () throws(DatabaseError) in
            try care.parts.bind(list)
            while try care.parts.step() {
                let bytes = care.parts.optionalBytes() ?? []
                bytes.withUnsafeBytes { bytes in
                    for start in stride(from: 0, to: bytes.count - bytes.count % 16, by: 16) {
                        body(
                            Key(
                                high: UInt64(
                                    bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
                                low: UInt64(
                                    bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
                                )))
                    }
                }
            }
        }
    }

    /// Entries with a copy that was last checked before a time, the longest ago first.
    package mutating func entries(checkedBefore wall: Int64, limit: Int) throws(LedgerError) -> [EntryRow] {
        defer { care.unchecked.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            try care.unchecked.bind(wall)
            try care.unchecked.bind(Int64(limit))
            var rows: [EntryRow] = []
            while try care.unchecked.step() {
                if let row = care.unchecked.entryRow() { rows.append(row) }
            }
            return rows
        }
    }

    /// The keys that nobody asks for any more, and since when that is known.
    package mutating func leaving() throws(LedgerError) -> [Key: Int64] {
        defer { care.leaving.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            var rows: [Key: Int64] = [:]
            while try care.leaving.step() {
                if let key = care.leaving.key() { rows[key] = care.leaving.integer() }
            }
            return rows
        }
    }

    /// Calls the body with each entry that is not current.
    package mutating func forEachAbsent(
        _ body: (Key, String, EntryState) -> Void
    ) throws(LedgerError) {
        defer { care.absent.reset() }
        try withLedgerErrors { () throws(DatabaseError) in
            while try care.absent.step() {
                guard let key = care.absent.key() else { continue }
                let url = care.absent.text()
                if let state = EntryState(rawValue: care.absent.integer()) { body(key, url, state) }
            }
        }
    }

    /// Who is not to be asked for.
    package mutating func pauseRules() throws(LedgerError) -> PauseRules {
        defer { care.pauses.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            var rules: [PauseRule] = []
            while try care.pauses.step() {
                if let rule = care.pauses.pauseRule() { rules.append(rule) }
            }
            return PauseRules(rules)
        }
    }

    /// Differs when the rules do.
    package mutating func pauseMark() throws(LedgerError) -> PauseMark {
        defer { care.pauseMark.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            guard try care.pauseMark.step() else { return PauseMark(newest: 0, count: 0) }
            return PauseMark(newest: care.pauseMark.integer(), count: care.pauseMark.integer())
        }
    }
}
