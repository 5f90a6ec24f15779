import Storage
import Synchronization

extension LedgerTransaction {
    /// Adds what a run did to the sums over all runs.
    ///
    /// - Parameter wall: the second of its end.
    mutating func count(_ counters: Counters, exitCode: Int32, at wall: Int64?) throws(LedgerError) {
        try add(counters.bytes.load(ordering: .relaxed), to: .received)
        for (code, count) in counters.requestsByCode { try add(count, to: .requests(code: code)) }
        if let wall, exitCode == 0 { try set(.lastSuccess, to: wall) }
    }
}
