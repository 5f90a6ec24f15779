import Posix
import Storage
import Testing

@Suite("What manifests ask for, in the ledger")
struct LedgerListsTests {
    private func keys(_ range: Range<UInt64>) -> [Key] { range.map(Sample.key) }

    private func sum(_ keys: [Key]) -> KeySum {
        var sum = KeySum()
        for key in keys { sum.add(key) }
        return sum
    }

    private func store(_ keys: [Key], of path: String, _ cache: CacheFolder) throws {
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.beginManifest(path, now: 7)
                let list = try ledger.nextList()
                for (part, start) in stride(from: 0, to: keys.count, by: keysPerPart).enumerated() {
                    let end = min(start + keysPerPart, keys.count)
                    try ledger.addPart(part, of: list, Array(keys[start..<end]))
                }
                try ledger.endManifest(path, flaws: 0, sum: sum(keys), list: list)
            }
        }
    }

    private func read(_ path: String, _ cache: CacheFolder) throws -> [Key]? {
        var reader = try openReader(of: cache)
        guard let list = try reader.manifests().first(where: { $0.path == path })?.list else { return nil }
        var keys: [Key] = []
        try reader.forEachKey(of: list) { keys.append($0) }
        return keys
    }

    @Test(
        "keys come back as they went in, whatever their number", arguments: [0, 1, 4095, 4096, 4097, 10_000])
    func roundTrip(_ count: UInt64) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try store(keys(0..<count), of: "/a", cache)
        try store(keys(5..<9), of: "/b", cache)
        #expect(try read("/a", cache) == keys(0..<count))
        #expect(try read("/b", cache) == keys(5..<9))
        try store(keys(1..<3), of: "/a", cache)
        #expect(try read("/a", cache) == keys(1..<3))
    }

    @Test("a manifest that is being read is not whole until its end, and keeps its old keys")
    func begun() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try store(keys(0..<3), of: "/a", cache)
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.beginManifest("/a", now: 8)
                try ledger.beginManifest("/new", now: 8)
            }
        }
        var reader = try openReader(of: cache)
        let rows = try reader.manifests()
        #expect(rows.map(\.path) == ["/a", "/new"])
        #expect(rows.map(\.flaws) == [nil, nil])
        #expect(rows[0].sum == sum(keys(0..<3)))
        #expect(try read("/a", cache) == keys(0..<3))
        #expect(try read("/new", cache) == nil)
    }

    @Test("what a kill left of a list goes, and what was forgotten")
    func sweep() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try store(keys(0..<3), of: "/a", cache)
        try store(keys(0..<3), of: "/b", cache)
        let left = try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                let list = try ledger.nextList()
                try ledger.addPart(0, of: list, keys(0..<9))
                return list
            }
        }
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.forgetManifest("/a")
            }
        }
        var reader = try openReader(of: cache)
        var count = 0
        try reader.forEachKey(of: left) { _ in count += 1 }
        #expect(count == 0)
        #expect(try reader.manifests().map(\.path) == ["/b"])
        #expect(try read("/b", cache) == keys(0..<3))
    }

    @Test("the sum knows order from content")
    func sums() {
        let some = keys(0..<100)
        #expect(sum(some) == sum(some.reversed()))
        #expect(sum(some) != sum(Array(some.dropLast())))
        #expect(sum(some) != sum(some.dropLast() + keys(100..<101)))
        #expect(sum(some) != sum(some + keys(0..<1)))
    }

    @Test("a set of keys holds those that were put in, zeros too")
    func keySet() {
        var set = KeySet()
        #expect(set.isEmpty)
        #expect(!set.contains(Key(high: 0, low: 0)))
        for key in keys(0..<5000) + keys(0..<5000) + [Key(high: 0, low: 0)] { set.insert(key) }
        #expect(set.count == 5000)
        #expect(keys(0..<5000).allSatisfy(set.contains))
        #expect(!keys(5000..<9000).contains(where: set.contains))
        #expect(set.contains(Key(high: 0, low: 0)))
    }

    @Test("checks come in the order in which they are due")
    func checks() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for number in UInt64(1)...4 {
                    var row = Sample.entry(number, copy: Sample.copy())
                    row.copy?.checked = Int64(100 - number)
                    try ledger.save(row)
                }
                try ledger.save(Sample.entry(5))
                try ledger.saveCheck(of: Sample.key(4), at: 200, modified: 5, inode: 6)
                try ledger.saveCheck(of: Sample.key(5), at: 1, modified: 5, inode: 6)
                try ledger.saveCheck(of: Sample.key(3), at: 9000, modified: 5, inode: 6)
                try ledger.dropChecks(after: 8000)
            }
        }
        var reader = try openReader(of: cache)
        let due = try reader.entries(checkedBefore: 200, limit: 10)
        #expect(due.map(\.key) == [3, 2, 1].map { Sample.key($0) })
        #expect(try reader.entries(checkedBefore: 201, limit: 10).map(\.copy?.checked) == [0, 98, 99, 200])
        #expect(try reader.entries(checkedBefore: 201, limit: 2).count == 2)
    }

    @Test(
        "only names as we make them are ours",
        arguments: [
            ("0123456789abcdef0123456789abcdef", true), ("0123456789abcdef0123456789abcdef.gz", true),
            ("0123456789abcdef0123456789abcdef.a1B2c3D4e5F6g7H8", true),
            ("0123456789abcdef0123456789abcdef.a1B2c3D4e5F6g7H89", false),
            ("0123456789abcdef0123456789abcdef.", false), ("0123456789abcdef0123456789abcdefgz", false),
            ("0123456789ABCDEF0123456789abcdef", false), ("0123456789abcdef0123456789abcde", false),
            ("0123456789abcdef0123456789abcdef.tar.gz", false),
            ("0123456789abcdef0123456789abcdef.g-z", false),
            ("CACHEDIR.TAG", false), (".syncagent", false), ("notes.txt", false),
        ])
    func names(_ name: String, _ isOurs: Bool) {
        #expect((CacheFolder.key(ofFileName: name) != nil) == isOurs)
    }
}
