import Wire

/// Cache-Control.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard let text = text(input) else { return 0 }
    let control = CacheControl(text)
    require((0...(1 << 31)).contains(control.maxAge ?? 0), "\(control)")
    require(CacheControl("\t " + text + " \t") == control, "blanks around change it")
    let upper = String(decoding: input.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
    require(CacheControl(upper) == control, "case changes it")
    if let received = receivedField(input) {
        require(CacheControl(received) == control, "it is another one in a head")
    }
    // Lines are joined with commas (RFC 9110 5.3): said twice it is the same, and the smaller age counts.
    guard !input.contains(0x22) else { return 0 }
    require(CacheControl(text + ", " + text) == control, "said twice it is another one")
    let joined = CacheControl(text + ", max-age=7, x, no-store")
    require(joined.maxAge == min(control.maxAge ?? 7, 7) && joined.noStore, "\(joined)")
    require(
        joined.noCache == control.noCache && joined.isImmutable == control.isImmutable
            && joined.mustRevalidate == control.mustRevalidate, "\(joined)")
    return 0
}
