import Reconcile
import Wire

/// Version marks and times that the rows share.
enum Marks {
    static let strong = "\"v1\""
    static let otherStrong = "\"v2\""
    static let weak = "W/\"v1\""
    static let malformed = "v1"
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let otherDate = "Sun, 06 Nov 1994 08:49:38 GMT"
    /// The second of `date`.
    static let second: Int64 = 784_111_777
    /// Wall seconds at which the rules are asked.
    static let now: Int64 = 1_700_000_000

    static func etag(_ text: String) -> Validators { Validators(etag: EntityTag(text)) }
    /// A Last-Modified whose answer has a Date so many seconds later; nil for none.
    static func modified(_ text: String = date, dateAfter seconds: Int64? = 1) -> Validators {
        Validators(lastModified: text, date: seconds.map { second + $0 })
    }
    static func both(_ tag: String) -> Validators {
        Validators(etag: EntityTag(tag), lastModified: date, date: second + 1)
    }
}

extension String {
    /// The name of a test row.
    static func row(_ number: Int, _ name: String) -> String { "\(number): \(name)" }
}
