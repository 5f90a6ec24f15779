internal import CLinux

/// The minute of the local day, 0 to 1439, that a wall-clock second falls in. See localtime_r(3); the zone is read
/// from $TZ or /etc/localtime at each call, as people who travel expect.
package func localMinute(of wall: Int64) -> Int {
    var seconds = time_t(wall)
    var parts = tm()
    tzset()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return min(max(Int(parts.tm_hour) * 60 + Int(parts.tm_min), 0), 1439)
}
