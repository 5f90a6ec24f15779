internal import Posix
internal import Storage
internal import TestOrigin

/// The world's origin: it serves the present versions, and does so badly when chance says so.
struct Origin {
    let world: World
    /// Of a run; the faults depend on it, on the target and on how often that was asked in the run.
    let run: UInt64
    /// Requests of 1000 that meet a fault.
    let faults: Int

    func answer(_ exchange: inout Exchange) {
        let words = exchange.request.path.split(separator: "/")
        guard words.count >= 2, let file = Int(words[1].prefix { $0 != "." }), file < world.count else {
            return exchange.respond(404)
        }
        var chance = Chance(
            world.seed, 3, run, number(of: exchange.request.target), UInt64(exchange.repetition))
        let fault = chance.permille(faults) ? Fault.allCases.randomElement(using: &chance) : nil
        let version = world.version(of: file)
        if words[0] == "r" {
            if let fault, isAboutHeads(fault) { return misbehave(&exchange, file, version, fault, &chance) }
            let place =
                world.style(of: file) == .movedByPath ? "/t/\(file)/\(version)" : "/t/\(file)?sig=\(version)"
            return exchange.respond(302, [("Location", place)], Array("moved".utf8))
        }
        // A place of its own for each version is served as long as anybody asks for it.
        let served = words.count == 3 ? Int(words[2]).map { min($0, version) } ?? version : version
        if let fault {
            misbehave(&exchange, file, served, fault, &chance)
        } else {
            exchange.serve(world.resource(file, served))
        }
    }

    /// What may befall a redirect, whose body nobody wants.
    private func isAboutHeads(_ fault: Fault) -> Bool {
        switch fault {
        case .dropped, .reset, .silentHead, .busy, .busyForASecond, .missing, .accepted, .interim: true
        case .silentBody, .cutBody, .resetBody, .shortRange, .shiftedRange, .otherTotal, .deafToIfRange,
            .wholeInstead, .unsatisfiable, .notModified, .changedBehind, .changedAndCut, .chunksCut, .chunks,
            .slow, .surplus, .untilClose:
            false
        }
    }

    private func misbehave(
        _ exchange: inout Exchange, _ file: Int, _ version: Int, _ fault: Fault, _ chance: inout Chance
    ) {
        let resource = world.resource(file, version)
        let some = chance.number(in: 0..<resource.size + 1)
        switch fault {
        case .dropped: exchange.cut()
        case .reset: exchange.cut(reset: true)
        case .silentHead: exchange.stall()
        case .silentBody:
            exchange.sendHead(200, fields(resource), length: resource.size)
            exchange.send(resource.bytes(from: 0, count: some))
            exchange.stall()
        case .cutBody: exchange.serve(resource, cutAfter: some)
        case .resetBody: exchange.serve(resource, cutAfter: some, reset: true)
        case .busy: exchange.respond(503)
        case .busyForASecond: exchange.respond(503, [("Retry-After", "1")])
        case .missing: exchange.respond(404)
        case .shortRange:
            let start = rangeStart(exchange, resource)
            let end = start + (resource.size - start) / 2
            part(&exchange, resource, start..<end, claiming: start, of: resource.size)
        case .shiftedRange:
            let start = rangeStart(exchange, resource)
            part(&exchange, resource, start..<resource.size, claiming: start + 1, of: resource.size + 1)
        case .otherTotal:
            let start = rangeStart(exchange, resource)
            part(&exchange, resource, start..<resource.size, claiming: start, of: resource.size + 1)
        case .deafToIfRange:
            let start = rangeStart(exchange, resource)
            part(&exchange, resource, start..<resource.size, claiming: start, of: resource.size)
        case .wholeInstead: exchange.respond(200, fields(resource), whole(resource))
        case .unsatisfiable: exchange.respond(416, [("Content-Range", "bytes */\(resource.size)")])
        case .notModified: exchange.respond(304, [("ETag", "\"other\"")])
        case .accepted: exchange.respond(202)
        case .changedBehind, .changedAndCut:
            exchange.sendHead(200, fields(resource), length: resource.size)
            exchange.send(resource.bytes(from: 0, count: some))
            world.change(file)
            if fault == .changedAndCut { return exchange.cut() }
            exchange.send(resource.bytes(from: some, count: resource.size - some))
        case .chunksCut, .chunks:
            exchange.sendHead(200, fields(resource) + [("Transfer-Encoding", "chunked")], length: nil)
            for bytes in [
                resource.bytes(from: 0, count: some), resource.bytes(from: some, count: resource.size - some),
            ]
            where !bytes.isEmpty {
                exchange.send("\(String(bytes.count, radix: 16))\r\n")
                exchange.send(bytes)
                exchange.send("\r\n")
            }
            if fault == .chunksCut { return exchange.cut() }
            exchange.send("0\r\n\r\n")
        case .slow:
            exchange.rate = chance.spread(50_000, 2_000_000)
            exchange.serve(resource)
        case .surplus:
            exchange.respond(200, fields(resource), whole(resource))
            let other = chance.number(in: 0..<world.count)
            exchange.respond(200, [("ETag", "\"x\"")], whole(world.resource(other, 0)))
        case .interim:
            exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            exchange.serve(resource)
        case .untilClose:
            exchange.sendHead(200, fields(resource) + [("Connection", "close")], length: nil)
            exchange.send(whole(resource))
            exchange.close()
        }
    }

    private func whole(_ resource: Resource) -> [UInt8] { resource.bytes(from: 0, count: resource.size) }

    private func fields(_ resource: Resource) -> [(String, String)] {
        [("ETag", resource.etag), ("Last-Modified", resource.lastModified)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// Where the client wants to go on; 0 when it does not.
    private func rangeStart(_ exchange: Exchange, _ resource: Resource) -> Int {
        let text = exchange.request.field("range") ?? ""
        return min(resource.size, Int(text.dropFirst(6).prefix { $0 != "-" }) ?? 0)
    }

    private func part(
        _ exchange: inout Exchange, _ resource: Resource, _ part: Range<Int>, claiming start: Int,
        of total: Int
    ) {
        if part.isEmpty { return exchange.respond(200, fields(resource), whole(resource)) }
        let range = "bytes \(start)-\(start + part.count - 1)/\(total)"
        exchange.respond(
            206, fields(resource) + [("Content-Range", range)],
            resource.bytes(from: part.lowerBound, count: part.count))
    }
}
