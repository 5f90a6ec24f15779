import Foundation
import Posix
import Testing

@Suite("A lock", .timeLimit(.minutes(2)))
struct LockTests {
    @Test("is had by one at a time, and goes with its owner")
    func isExclusive() throws {
        let temporary = try TemporaryFolder()
        let one = try temporary.open()
        let other = try temporary.open()
        #expect(try !one.isLocked("lock"), "nobody made it yet")
        #expect(try one.status(of: "lock") == nil, "asking makes no file")
        do {
            let lock = try one.lock("lock")
            let isTaken = lock != nil
            #expect(isTaken)
            #expect(try isRefused(other))
            #expect(try isRefused(one), "not even to the same folder twice")
            #expect(try other.isLocked("lock"))
            #expect(try isRefused(other), "asking has taken nothing away")
            release(lock)
        }
        #expect(try !other.isLocked("lock"))
        #expect(try !isRefused(other))
        #expect(try temporary.mode(of: "lock") == 0o600)
    }

    private func isRefused(_ folder: borrowing Folder) throws -> Bool {
        let lock = try folder.lock("lock")
        return lock == nil
    }

    /// A lock lives as long as its value; this is where it ends.
    private func release(_ lock: consuming FileLock?) {}

    @Test("is free once the process that had it was killed")
    func isReleasedAtDeath() throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.open()
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        // One process: a child would live on, and the lock in it.
        holder.arguments = ["--no-fork", temporary.path + "/lock", "cat"]
        let input = Pipe()
        holder.standardInput = input
        try holder.run()
        #expect(try eventually { try folder.isLocked("lock") })
        #expect(try isRefused(folder))
        kill(holder.processIdentifier, SIGKILL)
        #expect(try eventually { try !isRefused(folder) })
        try input.fileHandleForWriting.close()
        holder.waitUntilExit()
    }

    /// Looks again and again, for a minute at most.
    private func eventually(_ isTrue: () throws -> Bool) rethrows -> Bool {
        let deadline = Instant.now.advanced(bySeconds: 60)
        while try !isTrue() {
            if Instant.now >= deadline { return false }
            usleep(1000)
        }
        return true
    }

    @Test("a FIFO in its place makes nobody wait")
    func fifo() throws {
        let temporary = try TemporaryFolder()
        try temporary.makeFIFO("lock")
        let folder = try temporary.open()
        #expect(try !folder.isLocked("lock"))
        #expect(try !isRefused(folder))
    }

    @Test("a folder in its place is an error")
    func folderInPlace() throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.open()
        try folder.make(folder: "lock", mode: 0o700)
        #expect(errorCode { _ = try folder.lock("lock") } == EISDIR)
    }
}
