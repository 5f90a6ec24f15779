internal import Posix
internal import Wire

/// The words of the command line that hold secrets, which ps(1) shows to everybody.
enum SecretWords {
    /// What is to stand in the place of a word, by its place; words that may be seen are left out.
    ///
    /// This looks at each word for itself, so that nothing secret stays behind a slip that parsing refuses.
    static func concealed(_ words: [Argument]) -> [(place: Int, text: String)] {
        let options = OptionTable.rows.filter(\.isSecret).map(\.name.typed)
        var concealed: [(place: Int, text: String)] = []
        for (place, word) in words.enumerated() {
            let text = word.text
            if place > 0, options.contains(words[place - 1].text) {
                concealed.append((place, "***"))
            } else if let option = options.first(where: { text.hasPrefix($0 + "=") }) {
                concealed.append((place, option + "=***"))
            } else {
                let masked = HTTPURL.maskedWord(text)
                if masked != text { concealed.append((place, masked)) }
            }
        }
        return concealed
    }

    /// Takes the secrets out of what the kernel shows of this process.
    static func conceal(in words: [Argument]) {
        for (place, text) in concealed(words) { replaceProcessArgument(place, by: Array(text.utf8)) }
    }
}
