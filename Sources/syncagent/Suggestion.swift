/// What was probably meant by a word that is not known.
enum Suggestion {
    /// The nearest candidate, when it is near enough to be a slip of the fingers: a third of the word may differ.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        // Longer words than any option has are no slip, and the table grows with their square.
        guard word.utf8.count <= 64 else { return nil }
        let limit = max(1, word.utf8.count / 3)
        let prefixed = candidates.filter { word.utf8.count >= 2 && $0.hasPrefix(word) }
        if prefixed.count == 1 { return prefixed.first }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(word, candidate)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Insertions, deletions, substitutions and swaps of neighbours between two words (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var twoBack: [Int] = []
        var oneBack = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let cost = left[row] == right[column] ? 0 : 1
                var best = min(oneBack[column + 1] + 1, current[column] + 1, oneBack[column] + cost)
                let isSwap =
                    row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwap { best = min(best, twoBack[column - 1] + 1) }
                current.append(best)
            }
            twoBack = oneBack
            oneBack = current
        }
        return oneBack[right.count]
    }
}
