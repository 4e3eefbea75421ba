import PushRuntime

/// Edits one line and holds the history. Independent of the terminal: keys are the input, a view is the output.
struct LineEditor {
    /// The action that the owner of the editor must take after a key.
    enum Effect: Equatable {
        case edited
        /// The line is complete, in `text`.
        case entered
        case interrupted
        case endOfInput
        /// Complete the text before the cursor.
        case completion
        case clearScreen
        case suspended
        case nothing
    }

    private(set) var characters: [Character] = []
    /// Index of the character after the cursor.
    private(set) var cursor = 0
    private var history: [String] = []
    /// Index of the history line that is shown; `history.count` for the new line.
    private var historyIndex = 0
    /// The new line's text while a history line is shown.
    private var draft: [Character] = []
    private var cut: [Character] = []

    /// Maximum number of lines in the history.
    private static let historyLimit = 1000

    var text: String { String(characters) }

    var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Starts a new line.
    mutating func begin() {
        set([])
        historyIndex = history.count
        draft = []
    }

    mutating func take(_ key: Key) -> Effect {
        switch key {
        case .text(let scalar): insert(scalar)
        case .enter:
            remember()
            return .entered
        case .tab:
            guard textBeforeCursor.contains(where: { $0 != " " }) else {
                replaceBeforeCursor(0, with: "  ")
                return .edited
            }
            return .completion
        case .interrupt: return .interrupted
        case .suspend: return .suspended
        case .endOfInput:
            guard characters.isEmpty else { return take(.delete) }
            return .endOfInput
        case .clearScreen: return .clearScreen
        case .backspace: remove(max(0, cursor - 1)..<cursor)
        case .delete: remove(cursor..<min(cursor + 1, characters.count))
        case .cutToEnd: cutOut(cursor..<characters.count)
        case .cutToStart: cutOut(0..<cursor)
        case .cutWord: cutOut(wordStart..<cursor)
        case .cutWordRight: cutOut(cursor..<wordEnd)
        case .paste: replaceBeforeCursor(0, with: String(cut))
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .up: return show(historyIndex - 1)
        case .down: return show(historyIndex + 1)
        }
        return .edited
    }

    /// Replaces the last `count` characters before the cursor.
    mutating func replaceBeforeCursor(_ count: Int, with text: String) {
        characters.replaceSubrange((cursor - count)..<cursor, with: text)
        cursor += text.count - count
    }

    // MARK: - Editing

    private mutating func set(_ text: [Character]) {
        characters = text
        cursor = text.count
    }

    /// Inserts a scalar. One that combines with the character before the cursor is merged with it.
    private mutating func insert(_ scalar: Unicode.Scalar) {
        if cursor > 0 {
            var joined = String(characters[cursor - 1])
            joined.unicodeScalars.append(scalar)
            if joined.count == 1, let character = joined.first {
                characters[cursor - 1] = character
                return
            }
        }
        characters.insert(Character(scalar), at: cursor)
        cursor += 1
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private mutating func cutOut(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        cut = Array(characters[range])
        remove(range)
    }

    private var wordStart: Int {
        let before = characters[..<cursor]
        let word = before.lastIndex(where: \.isWord) ?? before.startIndex
        return before[..<word].lastIndex { !$0.isWord }.map { $0 + 1 } ?? 0
    }

    private var wordEnd: Int {
        let after = characters[cursor...]
        let word = after.firstIndex(where: \.isWord) ?? after.endIndex
        return after[word...].firstIndex { !$0.isWord } ?? after.endIndex
    }

    // MARK: - History

    private mutating func remember() {
        guard characters.contains(where: { $0 != " " }), history.last != text else { return }
        history.append(text)
        if history.count > Self.historyLimit { history.removeFirst() }
    }

    private mutating func show(_ wanted: Int) -> Effect {
        guard wanted != historyIndex, (0...history.count).contains(wanted) else { return .nothing }
        if historyIndex == history.count { draft = characters }
        historyIndex = wanted
        set(wanted == history.count ? draft : Array(history[wanted]))
        return .edited
    }

    // MARK: - View

    /// The part of the line around the cursor that fits into `columns`, and the cursor's column in that part.
    func view(columns: Int) -> (text: String, column: Int) {
        let available = max(columns - 1, 1)
        var start = cursor
        var column = 0
        while start > 0, column + characters[start - 1].columns <= available {
            start -= 1
            column += characters[start].columns
        }
        var end = cursor
        var width = column
        while end < characters.count, width + characters[end].columns <= available {
            width += characters[end].columns
            end += 1
        }
        return (String(characters[start..<end]).printable, column)
    }
}

extension Character {
    fileprivate var isWord: Bool { isLetter || isNumber || self == "_" }

    /// Width in terminal columns, an approximation of Unicode Standard Annex 11.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{fe0f}") { return 2 }
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: return String(self).printable.count
        case 0x0300..<0x0370, 0x200b..<0x2010, 0xfe00..<0xfe10: return 0
        case 0x1100..<0x1160, 0x2e80..<0xa4d0, 0xac00..<0xd7a4, 0xf900..<0xfb00, 0xfe30..<0xfe70, 0xff00..<0xff61,
            0xffe0..<0xffe7, 0x1f300..<0x1f650, 0x1f680..<0x1f700, 0x1f900..<0x1fb00, 0x20000..<0x3fffe:
            return 2
        default: return 1
        }
    }
}
