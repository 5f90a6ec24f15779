import Wire

/// Proxies: the first line is an origin's URL, the second a proxy's, the third a no_proxy.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let lines = input.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    if lines.count > 1 { checkProxy(lines[1]) }
    let parsed = Outcome { () throws(URLError) in try HTTPURL(parsing: lines[0]) }
    guard let origin = parsed.value?.origin else { return 0 }
    checkSelf(origin)
    if lines.count > 2 { checkList(lines[2], origin) }
    return 0
}

private func checkProxy(_ text: String) {
    let parsed = Outcome { () throws(ProxyError) in try Proxy(parsing: text) }
    guard let proxy = parsed.value else { return }
    require(proxy.origin.scheme == .http, "\(proxy)")
    require(proxy.authorization?.utf8.starts(with: "Basic ".utf8) != false, "the field of \(proxy)")
    let again = Outcome { () throws(ProxyError) in try Proxy(parsing: proxy.description) }
    require(again.value?.origin == proxy.origin, "\(proxy) reads otherwise")
}

private func contains(_ list: String, _ origin: Origin) -> Bool {
    ProxyExceptions(parsing: list).contain(origin)
}

/// What is named is meant.
private func checkSelf(_ origin: Origin) {
    let other = origin.port == 1 ? 2 : 1
    for name in [origin.host, origin.bareHost, origin.host.uppercased().lowercased()] {
        require(contains("x, \(name)", origin), "\(origin) is not in its own list")
    }
    require(contains("\(origin.host):\(origin.port)", origin), "\(origin) is not at its own port")
    require(!contains("\(origin.host):\(other)", origin), "\(origin) is at another port")
    require(contains(" *\t", origin), "\(origin) is not among all")
}

/// A list says what its items say, in whatever case.
private func checkList(_ list: String, _ origin: Origin) {
    let exceptions = ProxyExceptions(parsing: list)
    let isIn = exceptions.contain(origin)
    require(isIn || !exceptions.containAll, "\(origin) is not among all")
    let items = list.utf8.split { Array(", \t\r\n".utf8).contains($0) }.map { String(Substring($0)) }
    require(
        items.contains { contains($0, origin) } == isIn,
        "the list of \(items) says more or less than its items")
    let upper = String(decoding: list.utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
    require(contains(upper, origin) == isIn, "case changes what \(list) says")
    require(contains(list + ",\n*", origin), "all is not all")
    require(exceptions.mappingNames { $0 } == exceptions, "mapping changes it")
}
