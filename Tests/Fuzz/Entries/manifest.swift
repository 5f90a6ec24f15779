import CZlib
import Storage
import Wire

/// Manifest reader, gzip included, and the union of its entries.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeRawBufferPointer(start: start, count: count))
    let readings = input.withUnsafeBytes { cuts($0) }.map { read(input, in: $0, limit: .max) }
    require(
        readings.allSatisfy { $0 == readings[0] }, "the entries hang on how the manifest came: \(readings)")
    let whole = readings[0]
    require(read(input, in: [count], limit: 1) == whole, "the entries hang on the size of a batch")
    // Text that looks like gzip is refused within gzip.
    if !input.starts(with: [0x1F, 0x8B]) {
        let zipped = gzip(input)
        require(read(zipped, in: [zipped.count], limit: .max) == whole, "the entries hang on compression")
    }
    for entry in whole.entries { check(entry) }
    checkUnion(whole.entries)
    return 0
}

/// All that a manifest gave; an entry by what it says.
private struct Reading: Equatable {
    var entries: [Entry] = []
    var problems: [ManifestProblem] = []
    var failure: ManifestError?
    var counts: [Int] = []

    static func == (left: Reading, right: Reading) -> Bool {
        left.entries.elementsEqual(right.entries, by: isSame) && left.problems == right.problems
            && left.failure == right.failure && left.counts == right.counts
    }
}

private func isSame(_ left: Entry, _ right: Entry) -> Bool {
    left.key == right.key && left.fileName == right.fileName && left.written == right.written
        && left.url == right.url && left.place == right.place && left.mirrors == right.mirrors
        && left.out == right.out && left.checksums == right.checksums && left.size == right.size
        && left.headers.elementsEqual(right.headers, by: ==) && left.maxAge == right.maxAge
        && left.isImmutable == right.isImmutable && left.priority == right.priority
        && left.fingerprint == right.fingerprint
}

private func read(_ bytes: [UInt8], in pieces: [Int], limit: Int) -> Reading {
    var rest = bytes[...]
    var sizes = pieces[...]
    var reader = ManifestReader(name: "m") { buffer in
        // An empty piece would say that the manifest ends.
        while sizes.first == 0 { sizes.removeFirst() }
        let piece = rest.prefix(min(sizes.popFirst() ?? 0, buffer.count))
        buffer.copyBytes(from: piece)
        rest = rest.dropFirst(piece.count)
        if rest.count > 0, sizes.isEmpty { sizes = [rest.count] }
        return piece.count
    }
    var reading = Reading()
    do throws(ManifestError) {
        while let batch = try reader.next(limit: limit, problems: { reading.problems.append($0) }) {
            require(!batch.isEmpty, "an empty batch")
            reading.entries += batch
        }
    } catch {
        reading.failure = error
    }
    reading.counts = [reader.entriesRead, reader.badLines, reader.refusedEntries]
    return reading
}

private func check(_ entry: Entry) {
    let name = entry.fileName.utf8
    require(
        !name.contains(0x2F) && name.first != 0x2E && name.count >= 32 && name.count <= 49, entry.fileName)
    require(!entry.checksums.contains { $0.bytes.count != $0.algorithm.length }, "a short checksum")
    require(Set(entry.checksums.map(\.algorithm)).count == entry.checksums.count, "two checksums of a type")
    for url in [entry.url] + entry.mirrors { require(url.path.utf8.first == 0x2F, "the path \(url.path)") }
    if let out = entry.out {
        // As the kernel cuts a path, not as letters look.
        let parts = out.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        require(!parts.contains { $0.elementsEqual("..".utf8) }, "out= climbs: \(out)")
        require(out.utf8.first != 0x2F && !out.utf8.contains(0) && !out.utf8.isEmpty, "out= leaves: \(out)")
        let last = parts.last.map { String(Substring($0)) } ?? ""
        require(last != "" && last != "." && out.utf8.count <= 4095, "out= names no file: \(out)")
    }
    var request: [UInt8] = []
    do throws(RequestError) {
        try appendRequest(to: &request, target: entry.url.target, host: "h", fields: entry.headers)
    } catch {
        fatalError("no request for \(entry): \(error)")
    }
}

/// One entry a key, in order; and a second batch brings none of them again.
private func checkUnion(_ entries: [Entry]) {
    var seen = SeenKeys()
    var refused: [Key] = []
    let united = unite(entries, seen: &seen) { problem in
        if problem.kind == .refusedEntry, let key = problem.key { refused.append(key) }
    }
    let keys = Set(entries.map(\.key))
    require(Set(united.map(\.key)).count == united.count, "a key twice")
    require(keys == Set(united.map(\.key)).union(refused), "an entry is lost")
    require(seen.count == keys.count && keys.allSatisfy(seen.contains), "keys are forgotten")
    require(unite(entries, seen: &seen) { _ in }.isEmpty, "an entry of an earlier batch")
}

/// One gzip member; level 1.
private func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    require(
        deflateInit2_(&stream, 1, Z_DEFLATED, 15 + 16, 1, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK,
        "zlib")
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
    let code = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            return deflate(&stream, Z_FINISH)
        }
    }
    require(code == Z_STREAM_END, "deflate: \(code)")
    return Array(output[..<Int(stream.total_out)])
}
