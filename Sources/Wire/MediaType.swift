/// `type/subtype` of a Content-Type in lower case, without parameters (RFC 9110 8.3.1); nil when it is none.
package func mediaType(_ contentType: String?) -> String? {
    guard let contentType else { return nil }
    let essence = Array(contentType.utf8.prefix { $0 != 0x3B })[...].trimmingBlanks()
    let parts = essence.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isToken) }) else { return nil }
    return String(decoding: essence.map(\.lowercased), as: UTF8.self)
}
