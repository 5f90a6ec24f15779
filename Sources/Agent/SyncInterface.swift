// STUB: what the edge is written against until the real agent is merged; drop this file then.
package import Posix

package final class SyncRun: Sendable {
    private let stop: Stop

    package init(options: SyncOptions, stop: Stop, notice: @escaping @Sendable (Notice) -> Void) {
        self.stop = stop
    }

    package func run() throws(SyncError) -> SyncOutcome { SyncOutcome(exitCode: stop.isRaised ? 75 : 0) }

    package func snapshot() -> Snapshot { Snapshot() }
}
