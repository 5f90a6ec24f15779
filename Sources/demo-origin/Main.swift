internal import CLinux
internal import Posix
internal import TestOrigin

/// Serves a folder for the demo, on 127.0.0.1 unless told otherwise, and logs each request; it runs until it is killed.
@main
struct Main {
    static func main() {
        do throws(UsageError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            let log = RequestLog(descriptor: try open(log: options.log))
            let origin = try listen(options, log)
            say("\(origin.port)\n", to: 1)
            withExtendedLifetime(origin) { while true { pause() } }
        } catch {
            say("demo-origin: \(error.message)\n", to: 2)
            exit(64)
        }
    }

    private static func listen(_ options: Options, _ log: RequestLog) throws(UsageError) -> TestOrigin {
        do throws(SystemError) {
            return try TestOrigin(host: options.host, port: options.port) { exchange in
                answer(&exchange, options, log)
            }
        } catch {
            throw UsageError("\(error.operation) \(error.subject): \(error.reason)")
        }
    }

    private static func open(log path: String) throws(UsageError) -> Descriptor {
        let number = clinux_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw UsageError("cannot open \(path)") }
        return Descriptor(owning: number, subject: path)
    }

    private static func answer(_ exchange: inout Exchange, _ options: Options, _ log: RequestLog) {
        let request = exchange.request
        log.begin(exchange)
        exchange.rate = options.rate
        let path = request.path
        if path.split(separator: "/").contains("..") || path.contains("%") {
            exchange.respond(400)
        } else if let resource = Resource(file: options.folder + path) {
            let cuts = exchange.repetition == 0 && request.method == "GET"
            let limit = cuts ? options.cutFirst.flatMap { $0 < resource.size ? $0 : nil } : nil
            exchange.serve(resource, cutAfter: limit)
        } else {
            exchange.respond(404)
        }
        log.end(exchange)
    }
}
