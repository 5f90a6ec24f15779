/// The bytes that a run may still receive. Readers reserve before they read and give back what did not come, so that
/// the sum is never exceeded.
package struct ByteAllowance: Sendable {
    /// Bytes; nil for no bound.
    private var left: UInt64?

    package init(bytes: UInt64?) { left = bytes }

    /// Bytes that may be read now, at most as many as wanted; 0 when nothing is left.
    ///
    /// Towards the end less is given, so that one reader's reservation does not end the reading of all others.
    package mutating func reserve(_ wanted: Int) -> Int {
        guard let left else { return wanted }
        let share = min(left, max(16 << 10, left / 16))
        let given = min(wanted, Int(clamping: share))
        self.left = left - UInt64(given)
        return given
    }

    /// Gives back what was reserved and did not come.
    package mutating func giveBack(_ bytes: Int) {
        guard let left, bytes > 0 else { return }
        let (sum, overflow) = left.addingReportingOverflow(UInt64(bytes))
        self.left = overflow ? .max : sum
    }
}
