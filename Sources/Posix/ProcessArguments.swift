internal import CLinux

/// The words behind the program's name, byte by byte as the caller gave them; they need not be UTF-8.
package func processArguments() -> [[UInt8]] {
    (1..<max(1, clinux_argument_count())).compactMap { index in
        guard let word = clinux_argument(index) else { return nil }
        return Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
}
