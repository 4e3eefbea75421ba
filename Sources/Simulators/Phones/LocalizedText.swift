/// Localised texts stored in the app, which a push refers to by key.
enum LocalizedText {
    /// Returns the app's text with its arguments inserted, or the key itself if the app does not have it.
    ///
    /// `%@` and `%s` stand for the next argument, `%1$@` and `%1$s` for a numbered one (Apple, "String format specifiers"; Android,
    /// "Formatting strings").
    static func text(forKey key: String, arguments: [String], in strings: [String: String]) -> String {
        guard let format = strings[key] else { return key }
        var output = ""
        var rest = format[...]
        var nextArgument = 0
        while let percent = rest.firstIndex(of: "%") {
            output += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            let number = rest.prefix { $0.isASCII && $0.isNumber }
            var index = nextArgument
            var tail = rest
            if let position = Int(number), tail.dropFirst(number.count).first == "$" {
                index = position - 1
                tail = tail.dropFirst(number.count + 1)
            } else {
                nextArgument += 1
            }
            guard let kind = tail.first, kind == "@" || kind == "s" else {
                output += "%"
                nextArgument = max(0, nextArgument - 1)
                continue
            }
            output += arguments.indices.contains(index) ? arguments[index] : ""
            rest = tail.dropFirst()
        }
        return output + rest
    }
}
