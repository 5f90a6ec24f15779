import Posix
import Storage

extension Setback {
    /// The file system refused.
    init(storage error: SystemError) {
        self.init(
            error.isFileTooLarge ? .tooLarge : .disk, error.isDiskFull ? "disk full" : "disk",
            "\(error.subject): \(error.reason)")
    }

    /// The ledger refused.
    init(ledger error: LedgerError) {
        let message = "\(error.path): \(error.reason)"
        switch error.kind {
        case .busy: self.init(.later, "ledger busy", message)
        case .full: self.init(.disk, "disk full", message)
        case .damaged:
            self.init(.disk, "ledger", message + "; the next run sets it aside and makes a new one")
        case .newer, .unusable, .failed: self.init(.disk, "ledger", message)
        }
    }
}

extension SystemError {
    /// Speaks against one file alone, and not against writing at all: it cannot be read, or has gone.
    var isAboutOneFile: Bool { !isDiskFull && !isReadOnly }
}

extension CacheFolder {
    /// Marks a ledger that turned out to be damaged, so that the next run makes a new one; nothing for any other
    /// error.
    func condemn(_ error: LedgerError) {
        guard error.kind == .damaged else { return }
        do throws(SystemError) {
            try LedgerWriter.condemn(in: state)
        } catch {
            // The disk fails as well; then the damage is met again, and told again.
            return
        }
    }
}
