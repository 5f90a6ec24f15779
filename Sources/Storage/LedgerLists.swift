/// A manifest that was mirrored here, and what is known of the keys that it asks for.
package struct ManifestRow: Hashable, Sendable {
    package let identifier: Int64
    /// Absolute, or `-` for standard input.
    package let path: String
    /// Wall seconds when a run last began with it.
    package let synced: Int64
    /// Lines that its last run could not read; nil when that run did not come to its end.
    package let flaws: Int?
    package let sum: KeySum
    /// The list of its keys; nil when there is none yet.
    package let list: Int64?
}

/// Tells lists of keys apart without regard to their order. Keys are MD5, so sums of them are as good as random.
package struct KeySum: Hashable, Sendable {
    package private(set) var count = 0
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    package init() {}

    init(count: Int, high: UInt64, low: UInt64) {
        (self.count, self.high, self.low) = (count, high, low)
    }

    package mutating func add(_ key: Key) {
        count += 1
        high &+= key.high
        low &+= key.low
    }
}

/// The statements for manifests and the lists of their keys.
struct LedgerLists: ~Copyable {
    var begin: Statement
    var end: Statement
    var forget: Statement
    var nextList: Statement
    var addPart: Statement
    var sweep: Statement

    static func prepare(on database: borrowing Database) throws(DatabaseError) -> LedgerLists {
        LedgerLists(
            begin: try database.prepare(
                """
                INSERT INTO manifest (path, synced, flaws, entries, high, low) VALUES (?, ?, NULL, 0, 0, 0)
                ON CONFLICT (path) DO UPDATE SET synced = excluded.synced, flaws = NULL
                """, "noting a manifest"),
            end: try database.prepare(
                "UPDATE manifest SET flaws = ?, entries = ?, high = ?, low = ?, list = ? WHERE path = ?",
                "noting a manifest's keys"),
            forget: try database.prepare("DELETE FROM manifest WHERE path = ?", "forgetting a manifest"),
            nextList: try database.prepare(
                """
                SELECT max(
                    (SELECT coalesce(max(list), 0) FROM asked), (SELECT coalesce(max(list), 0) FROM manifest)) + 1
                """, "numbering a manifest's keys"),
            addPart: try database.prepare(
                "INSERT OR REPLACE INTO asked (list, part, keys) VALUES (?, ?, ?)", "noting a manifest's keys"
            ),
            sweep: try database.prepare(
                "DELETE FROM asked WHERE list NOT IN (SELECT list FROM manifest WHERE list IS NOT NULL)",
                "dropping old lists of keys"))
    }
}

/// Keys in one block of a list: 64 KiB.
package let keysPerPart = 4096

extension LedgerTransaction {
    /// A run begins to read a manifest: until `endManifest` nobody knows all that it asks for. To be committed
    /// before anything that it asks for is published.
    package mutating func beginManifest(_ path: String, now: Int64) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try lists.begin.bind(path)
            try lists.begin.bind(now)
            try lists.begin.run()
        }
    }

    /// A number that no list of keys has.
    package mutating func nextList() throws(LedgerError) -> Int64 {
        try withLedgerErrors { () throws(DatabaseError) in
            let number = try lists.nextList.step() ? lists.nextList.integer() : 1
            lists.nextList.reset()
            return number
        }
    }

    /// Adds a block of keys to a list that no manifest has yet.
    package mutating func addPart(_ part: Int, of list: Int64, _ keys: [Key]) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(keys.count * 16)
            for key in keys {
                withUnsafeBytes(of: key.high.bigEndian) { bytes.append(contentsOf: $0) }
                withUnsafeBytes(of: key.low.bigEndian) { bytes.append(contentsOf: $0) }
            }
            try lists.addPart.bind(list)
            try lists.addPart.bind(Int64(part))
            try lists.addPart.bind(bytes)
            try lists.addPart.run()
        }
    }

    /// A manifest was read to its end, and this list holds all that it asks for. Lists that no manifest has any more
    /// go.
    package mutating func endManifest(
        _ path: String, flaws: Int, sum: KeySum, list: Int64?
    ) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try lists.end.bind(Int64(flaws))
            try lists.end.bind(Int64(sum.count))
            try lists.end.bind(Int64(bitPattern: sum.high))
            try lists.end.bind(Int64(bitPattern: sum.low))
            try lists.end.bind(list)
            try lists.end.bind(path)
            try lists.end.run()
            try lists.sweep.run()
        }
    }

    /// A manifest asks for nothing any more.
    package mutating func forgetManifest(_ path: String) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try lists.forget.bind(path)
            try lists.forget.run()
            try lists.sweep.run()
        }
    }
}
