internal import CLinux

/// The words behind the program's name, byte by byte as the caller gave them; they need not be UTF-8.
package func processArguments() -> [[UInt8]] {
    (1..<max(1, clinux_argument_count())).compactMap { index in
        guard let word = clinux_argument(index) else { return nil }
        return Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
}

/// Writes over a word behind the program's name, the first being 0, in the memory that /proc/PID/cmdline shows; what
/// does not fit is cut off. To be called before other threads read the words.
package func replaceProcessArgument(_ index: Int, by bytes: [UInt8]) {
    guard let word = clinux_argument(Int32(clamping: index + 1)) else { return }
    let length = strlen(word)
    let memory = UnsafeMutableRawBufferPointer(start: UnsafeMutablePointer(mutating: word), count: length)
    for place in memory.indices { memory[place] = place < bytes.count ? bytes[place] : 0 }
}
