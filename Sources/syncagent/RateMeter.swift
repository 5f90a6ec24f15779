internal import Posix

/// Bytes per second over the last few seconds: long enough to be calm, short enough to notice a stall.
struct RateMeter {
    /// Seconds that are looked back.
    static let span = 5.0
    /// Samples closer than this, in seconds, are one.
    static let step = 0.25

    private var samples: [(at: Instant, bytes: UInt64)] = []

    /// Takes a count that only grows and tells the rate; nil until there is something to compare.
    mutating func rate(bytes: UInt64, now: Instant) -> Double? {
        if let last = samples.last, now.seconds(since: last.at) < Self.step {
            // Too soon for a sample of its own; the comparison below is still with an older one.
        } else {
            samples.append((now, bytes))
        }
        // One sample beyond the span stays, so that there is always something to compare with.
        while samples.count > 2, now.seconds(since: samples[1].at) >= Self.span { samples.removeFirst() }
        guard let first = samples.first else { return nil }
        let seconds = now.seconds(since: first.at)
        guard seconds >= Self.step, bytes >= first.bytes else { return nil }
        return Double(bytes - first.bytes) / seconds
    }
}

/// How fast a run goes; nil where there is nothing to compare yet.
struct Pace {
    var bytesPerSecond: Double?
    var filesPerSecond: Double?
}

/// Bytes by the last few seconds; files by the whole run, since they come in fits.
struct PaceClock {
    private var meter = RateMeter()
    private var start: (at: Instant, files: Int)?

    mutating func pace(bytes: UInt64, files: Int, now: Instant) -> Pace {
        let rate = meter.rate(bytes: bytes, now: now)
        guard let start else {
            self.start = (now, files)
            return Pace(bytesPerSecond: rate)
        }
        let seconds = now.seconds(since: start.at)
        guard seconds >= RateMeter.span, files > start.files else { return Pace(bytesPerSecond: rate) }
        return Pace(bytesPerSecond: rate, filesPerSecond: Double(files - start.files) / seconds)
    }
}
