/// What a well-behaved origin answers to a GET or HEAD for a resource (RFC 9110 13.2.2 and 14.2).
enum Selection: Equatable {
    case whole
    case part(Range<Int>)
    case notModified
    case unsatisfiable

    init(_ request: Request, of resource: Resource) {
        self = .whole
        if let list = request.field("if-none-match") {
            if matchesWeakly(list, resource.etag) {
                self = .notModified
                return
            }
        } else if let since = request.field("if-modified-since").flatMap(seconds(httpDate:)),
            let modified = resource.lastModified.flatMap(seconds(httpDate:)), modified <= since
        {
            self = .notModified
            return
        }
        guard resource.takesRanges, request.method == "GET", let range = request.field("range") else {
            return
        }
        if let condition = request.field("if-range"), !holds(condition, resource) { return }
        self = Selection.range(range, size: resource.size)
    }

    /// One range only: an origin may ignore Range, and all others are ignored here.
    private static func range(_ text: String, size: Int) -> Selection {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return .whole }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (nil, nil): return .whole
        case (nil, let suffix?):
            guard bounds[0].isEmpty else { return .whole }
            return suffix == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - suffix)..<size)
        case (let first?, let last):
            guard last != nil || bounds[1].isEmpty, last.map({ $0 >= first }) ?? true else { return .whole }
            return first >= size
                ? .unsatisfiable : .part(first..<(last.map { min($0, size - 1) + 1 } ?? size))
        }
    }
}

/// If-Range compares strongly, and dates exactly (RFC 9110 13.1.5).
private func holds(_ condition: String, _ resource: Resource) -> Bool {
    if condition.hasPrefix("\"") { return condition == resource.etag }
    return condition == resource.lastModified
}

private func matchesWeakly(_ list: String, _ etag: String?) -> Bool {
    guard let etag else { return false }
    let opaque = { (tag: String) in tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
    return list.split(separator: ",").map(trimmed).contains { $0 == "*" || opaque($0) == opaque(etag) }
}
