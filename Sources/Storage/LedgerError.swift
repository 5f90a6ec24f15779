internal import Posix

/// Why the ledger cannot be opened, read or written; the kind says what the caller can do.
package struct LedgerError: Error, Hashable, Sendable {
    package enum Kind: Sendable {
        /// A newer syncagent wrote it; nothing was touched.
        case newer
        /// Something else stands at its name, or this user may not use it.
        case unusable
        /// Another program kept it locked longer than we wait.
        case busy
        /// Not a database, or nonsense in it: condemn it, let go of it and open it again.
        case damaged
        /// No room on the disk.
        case full
        /// The disk or the system failed.
        case failed
    }

    package let kind: Kind
    /// The ledger's file.
    package let path: String
    /// A phrase in lower case that does not repeat the path.
    package let reason: String

    package init(_ kind: Kind, path: String, reason: String) {
        self.kind = kind
        self.path = path
        self.reason = reason
    }

    init(_ error: DatabaseError) {
        kind =
            if error.isFull {
                .full
            } else if error.isCorrupt || error.isNotADatabase {
                .damaged
            } else if error.isBusy {
                .busy
            } else if error.isReadOnly || error.isUnopenable {
                .unusable
            } else {
                .failed
            }
        path = error.path
        reason = "\(error.message) while \(error.operation)"
    }

    /// Statements that do not fit a version that we know: somebody else changed the tables.
    init(preparing error: DatabaseError) {
        self =
            error.isSchemaMismatch
            ? LedgerError(.damaged, path: error.path, reason: error.message) : LedgerError(error)
    }

    init(_ error: SystemError, path: String) {
        kind = error.isDiskFull ? .full : error.isAboutPermission ? .unusable : .failed
        self.path = path
        reason = "\(error.reason) (\(error.operation))"
    }
}

/// Works with the database, with its failures as the ledger's.
func withLedgerErrors<Result: ~Copyable>(_ body: () throws(DatabaseError) -> Result) throws(LedgerError)
    -> Result
{
    do throws(DatabaseError) {
        return try body()
    } catch {
        throw LedgerError(error)
    }
}
