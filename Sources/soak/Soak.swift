internal import CLinux
internal import Posix
internal import TestOrigin

/// Runs the program again and again against an origin that does everything wrong, kills it, and looks at the cache
/// after each run; at the end everything works, and one run must make all of it right.
struct Soak {
    /// What there is to say about it.
    struct Tally {
        var runs = 0
        var killed = 0
        var terminated = 0
        var powerCuts = 0
        var clockJumps = 0
        var codes: [Int32: Int] = [:]
        var changes = 0
        var requests = 0
        /// Of each run, in order.
        var memory: [Int] = []
        var descriptors: [Int] = []
    }

    private let options: SoakOptions
    private let program: String
    private let world: World
    private let port: UInt16
    private let url: String
    private var inspection: Inspection
    private(set) var tally = Tally()

    private var cache: String { options.folder + "/cache" }
    private var manifest: String { options.folder + "/manifest.txt" }
    /// libfaketime(1), when it is installed.
    private static let clock = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
    private static let hasClock = access(clock, R_OK) == 0

    init(_ options: SoakOptions, program: String) throws(Finding) {
        self.options = options
        self.program = program
        world = World(seed: options.seed, count: options.entries)
        do throws(SystemError) {
            try makePath(options.folder, mode: 0o700)
            port = try refusingPort()
        } catch {
            throw Finding("cannot begin: \(error.operation) \(error.subject): \(error.reason)")
        }
        url = "http://127.0.0.1:\(port)"
        inspection = Inspection(world: world, url: url, cache: options.folder + "/cache")
    }

    /// All of it. Throws the first thing that must never be.
    mutating func run() throws(Finding) {
        let deadline = Instant.now.advanced(bySeconds: options.seconds)
        while Instant.now < deadline {
            var chance = Chance(options.seed, 4, UInt64(tally.runs))
            try badRun(&chance)
            tally.runs += 1
            // Seldom enough to leave much to find, often enough to find it soon.
            if tally.runs % 25 == 0 { try goodRun() }
        }
        try goodRun()
        try judgeGrowth()
    }

    /// One run in which everything may happen.
    private mutating func badRun(_ chance: inout Chance) throws(Finding) {
        var files = Array(0..<world.count)
        if chance.permille(250) { files = files.filter { _ in chance.permille(600) } }
        if chance.permille(500) { files.shuffle(using: &chance) }
        for file in files where chance.permille(30) { change(file) }
        let before = world.versions
        let faults = [0, 20, 100, 300][chance.number(in: 0..<4)]
        let origin = try listen(faults: faults)
        defer { stop(origin) }

        var arguments = try arguments(files)
        arguments += ["--jobs", "\(chance.number(in: 1..<17))", "--per-host", "\(chance.number(in: 1..<17))"]
        arguments += [
            "--retries", "\(chance.number(in: 0..<4))", "--max-time", "\(chance.number(in: 3..<15))",
        ]
        if chance.permille(300) { arguments.append("--retry-failed") }
        if chance.permille(50) { arguments.append("--refresh") }
        var subject = try start(arguments, clock(&chance))
        let plan = Ending(&chance)
        // Some files change while it works.
        let changes = (0..<chance.number(in: 0..<6)).map { _ in
            (chance.number(in: 0..<2000), chance.number(in: 0..<world.count))
        }
        let end = try follow(&subject, plan, changes)
        tally.codes[end.code, default: 0] += 1
        tally.memory.append(end.memory)
        tally.descriptors.append(end.descriptors)
        if end.code == 128 + SIGKILL {
            if chance.permille(500) { try litter(cache, &chance) }
            if chance.permille(500) {
                tally.powerCuts += 1
                try cutPower(cache, &chance)
            }
        } else if ![0, 1, 75].contains(end.code), !(plan.isEarly && end.code == 128 + (plan.signal ?? 0)) {
            throw Finding("exit \(end.code)")
        }
        try status()
        let versions = try inspect()
        if end.code == 0 {
            for file in files where versions[file] ?? -1 < before[file] {
                throw Finding("exit 0 although \(world.path(of: file)) is not the version of the run's start")
            }
        }
    }

    /// One run without faults and changes, which must make all of it right.
    private mutating func goodRun() throws(Finding) {
        let origin = try listen(faults: 0)
        defer { stop(origin) }
        var subject = try start(try arguments(Array(0..<world.count)) + ["--retry-failed"], [:])
        guard let end = subject.wait(until: .now.advanced(bySeconds: 120)) else {
            subject.kill(SIGKILL)
            throw Finding("a run without faults does not end in 120 s")
        }
        guard end.code == 0 else { throw Finding("a run without faults ends with \(end.code)") }
        try status()
        let versions = try inspect()
        for file in 0..<world.count where versions[file] != world.version(of: file) {
            throw Finding("\(world.path(of: file)) is not the present version after a run without faults")
        }
        let partials = try inspection.partials()
        if !partials.isEmpty { throw Finding("partials after a run without faults: \(partials)") }
    }

    // MARK: Parts of a run

    private mutating func change(_ file: Int) {
        world.change(file)
        tally.changes += 1
    }

    private func listen(faults: Int) throws(Finding) -> TestOrigin {
        let origin = Origin(world: world, run: UInt64(tally.runs), faults: faults)
        // Always at one port, since the keys depend on it.
        for _ in 0..<200 {
            do throws(SystemError) {
                return try TestOrigin(port: port) { origin.answer(&$0) }
            } catch {
                usleep(50_000)
            }
        }
        throw Finding("the origin cannot listen on port \(port)")
    }

    private mutating func stop(_ origin: TestOrigin) {
        tally.requests += origin.log.count
        origin.stop()
    }

    private func arguments(_ files: [Int]) throws(Finding) -> [String] {
        var text = world.manifest(of: files, at: url)
        do {
            let folder = try Folder(opening: options.folder)
            try folder.remove("manifest.txt")
            let file = try folder.create("manifest.txt", mode: 0o600)
            try text.withUTF8 { try file.write(all: UnsafeRawBufferPointer($0)) }
        } catch {
            throw Finding("cannot write the manifest: \(error)")
        }
        return [
            "sync", manifest, "--cache", cache, "--connect-timeout", "2", "--head-timeout", "0.5",
            "--stall-timeout", "0.5",
        ]
    }

    private func start(_ arguments: [String], _ settings: [String: String]) throws(Finding) -> Subject {
        let environment = ["PATH": "/usr/bin:/bin", "HOME": options.folder, "SWIFT_BACKTRACE": "enable=no"]
        return try Subject(
            program, arguments, environment: environment.merging(settings) { $1 },
            prefix: options.folder + "/\(arguments[0])")
    }

    /// Another time of day, for some runs.
    private mutating func clock(_ chance: inout Chance) -> [String: String] {
        let (isShifted, hours) = (chance.permille(200), chance.number(in: -9000..<9000))
        guard isShifted, Self.hasClock else { return [:] }
        tally.clockJumps += 1
        return [
            "LD_PRELOAD": Self.clock, "FAKETIME": "\(hours < 0 ? "-" : "+")\(abs(hours))h",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
            "FAKETIME_DISABLE_SHM": "1",
        ]
    }

    /// How a run is to end.
    private struct Ending {
        /// Nil lets it end by itself.
        let signal: Int32?
        let milliseconds: Int
        /// The program may not even have begun to watch for signals.
        var isEarly: Bool { milliseconds < 500 }

        init(_ chance: inout Chance) {
            let signals: [Int32?] = [SIGKILL, SIGKILL, SIGKILL, SIGTERM, SIGINT, nil, nil]
            signal = signals[chance.number(in: 0..<signals.count)]
            milliseconds = chance.spread(10, 3000)
        }
    }

    /// Changes files and sends the signal when their time has come, and waits for the end.
    private mutating func follow(
        _ subject: inout Subject, _ plan: Ending, _ changes: [(milliseconds: Int, file: Int)]
    ) throws(Finding) -> Subject.End {
        let began = Instant.now
        var events = changes.map { ($0.milliseconds, Optional($0.file)) }
        if plan.signal != nil { events.append((plan.milliseconds, nil)) }
        for (milliseconds, file) in events.sorted(by: { $0.0 < $1.0 }) {
            if let end = subject.wait(until: began.advanced(bySeconds: Double(milliseconds) / 1000)) {
                return end
            }
            if let file {
                change(file)
            } else if let signal = plan.signal {
                subject.kill(signal)
                if signal == SIGKILL { tally.killed += 1 } else { tally.terminated += 1 }
                let patience = signal == SIGKILL ? 10.0 : 30
                guard let end = subject.wait(until: .now.advanced(bySeconds: patience)) else {
                    subject.kill(SIGKILL)
                    throw Finding("it still runs \(patience) s after signal \(signal)")
                }
                return end
            }
        }
        // It has at most 15 s by its own option, and some to save.
        guard let end = subject.wait(until: .now.advanced(bySeconds: 60)) else {
            subject.kill(SIGKILL)
            throw Finding("it does not end although its time is over")
        }
        return end
    }

    private func status() throws(Finding) {
        var subject = try start(["status", "--json", "--cache", cache], [:])
        guard let end = subject.wait(until: .now.advanced(bySeconds: 30)) else {
            subject.kill(SIGKILL)
            throw Finding("status does not answer in 30 s")
        }
        let answer = readSmallFile(options.folder + "/status.out") ?? ""
        if end.code != 0 || !answer.hasPrefix("{") { throw Finding("status ends with \(end.code)") }
    }

    private mutating func inspect() throws(Finding) -> [Int: Int] { try inspection.inspect() }

    /// Later runs take no more than earlier ones.
    private func judgeGrowth() throws(Finding) {
        for (name, figures, slack) in [
            ("memory (KiB)", tally.memory, 16 << 10), ("descriptors", tally.descriptors, 16),
        ] where figures.count >= 30 {
            let third = figures.count / 3
            let (early, late) = (figures.prefix(third).max() ?? 0, figures.suffix(third).max() ?? 0)
            if late > early + early / 4 + slack { throw Finding("\(name) grew from \(early) to \(late)") }
        }
    }
}
