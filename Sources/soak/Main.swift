internal import CLinux
internal import Posix

/// `soak`: prints one line, and exits 1 when it found something; what it found stays in its folder.
@main
struct Main {
    static func main() {
        clinux_ignore_signal(SIGPIPE)
        let began = Instant.now
        do throws(Finding) {
            let options = try SoakOptions(CommandLine.arguments)
            var soak = try Soak(options, program: options.program.isEmpty ? neighbour : options.program)
            do throws(Finding) {
                try soak.run()
            } catch {
                let seconds = Int(Instant.now.seconds(since: began))
                say(
                    "soak: FOUND in run \(soak.tally.runs) after \(seconds) s with --seed \(options.seed) --entries \(options.entries): \(error.words); see \(options.folder)"
                )
                exit(1)
            }
            say(summary(soak.tally, options, Int(Instant.now.seconds(since: began))))
            remove(options.folder)
        } catch {
            say("soak: \(error.words)")
            exit(64)
        }
    }

    private static func summary(_ tally: Soak.Tally, _ options: SoakOptions, _ seconds: Int) -> String {
        let codes = tally.codes.sorted { $0.key < $1.key }.map { "\($0.value)x\($0.key)" }
        return "soak: nothing found in \(seconds) s with --seed \(options.seed): \(tally.runs) runs (exits "
            + codes.joined(separator: " ")
            + "; \(tally.killed) killed, \(tally.powerCuts) of them with a power cut, "
            + "\(tally.terminated) terminated, \(tally.clockJumps) at another time), \(options.entries) entries, "
            + "\(tally.changes) changes, \(tally.requests) requests, at most "
            + "\((tally.memory.max() ?? 0) / 1024) MiB and \(tally.descriptors.max() ?? 0) descriptors"
    }

    private static func say(_ text: String) {
        var text = text + "\n"
        text.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
    }

    /// The program beside this one.
    private static var neighbour: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let path = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) + "/syncagent"
    }

    private static func remove(_ folder: String) {
        do throws(Finding) {
            var subject = try Subject("/bin/rm", ["-rf", folder], environment: [:], prefix: folder + "/rm")
            _ = subject.wait(until: .now.advanced(bySeconds: 60))
        } catch {
            say("soak: \(error.words)")
        }
    }
}
