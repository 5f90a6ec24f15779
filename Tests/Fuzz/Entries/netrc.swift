import Wire

/// Netrc files.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeRawBufferPointer(start: start, count: count))
    let words = input.split { $0 <= 0x20 || $0 == 0x22 }.map { String(decoding: $0, as: UTF8.self) }
    let read = logins(of: words, in: input)
    if read.cause != nil {
        require((1...input.count { $0 == 0x0A } + 1).contains(read.line), "\(read)")
    }
    var later = read
    later.line += read.cause == nil ? 0 : 1
    require(logins(of: words, in: Array("# x\"\n \t".utf8) + input) == later, "a comment changes it")
    // In a quoted word a CR is a part of it.
    if !input.contains(0x22), !input.contains(0x0D) {
        let lines = input.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        require(logins(of: words, in: lines) == read, "CRs at line ends change it")
    }
    checkWritten(input)
    return 0
}

/// What a netrc says of hosts and of all others, or where it is wrong.
private struct Logins: Equatable {
    var logins: [Netrc.Login?] = []
    var line = 0
    var cause: NetrcError.Cause?
}

private func logins(of hosts: [String], in bytes: [UInt8]) -> Logins {
    do throws(NetrcError) {
        let netrc = try Netrc(parsing: bytes)
        return Logins(logins: hosts.map { netrc.login(for: $0) } + [netrc.login(for: "")])
    } catch {
        return Logins(line: error.line, cause: error.cause)
    }
}

/// The input as a user and a password comes back, and a later entry for the same host changes nothing.
private func checkWritten(_ secret: [UInt8]) {
    var quoted: [UInt8] = [0x22]
    for byte in secret {
        switch byte {
        case 0x0A: quoted += "\\n".utf8
        case 0x0D: quoted += "\\r".utf8
        case 0x22, 0x5C: quoted += [0x5C, byte]
        default: quoted.append(byte)
        }
    }
    quoted.append(0x22)
    let entry = Array("machine h login ".utf8) + quoted + Array("\tpassword ".utf8) + quoted
    let text = entry + Array("\nmachine H login x\ndefault login y\n".utf8)
    let expected = [Netrc.Login(user: secret, password: secret), Netrc.Login(user: Array("y".utf8))]
    require(logins(of: ["H"], in: text) == Logins(logins: expected), "a login does not come back")
}
