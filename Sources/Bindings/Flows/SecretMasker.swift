import Glibc
import Lua
import PushModel
import Synchronization

/// Masks the contents of secure payloads that a run has read. Reports, logs and errors show `***` instead.
///
/// A text of four or more characters is masked wherever it occurs. Words of up to seven letters and numbers are masked only as whole words.
/// A shorter text is masked only as the whole text or in quotes, a shorter number not at all, because they would match too often.
final class SecretMasker: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// Longest first, so that a part of a longer text is not masked before the whole.
        var parts: [String] = []
        var words: [String] = []
        var whole: Set<String> = []
        var count = 0
    }

    /// Maximum number of texts. A flow that reads payloads in a loop must not slow down its output. Beyond the limit all text is masked.
    private static let limit = 10_000
    private static let shortest = 4
    /// Shorter texts of letters alone are masked only as whole words.
    private static let longWord = 8
    private static let mask = "***"

    /// Adds every text and number of a payload. Field names are not masked.
    func add(_ payload: JSON) {
        state.withLock { state in
            Self.collect(payload, into: &state)
            state.parts.sort { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
            state.words.sort { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        }
    }

    /// Adds an argument that the script declares secret. It is masked wherever it occurs, whatever its length.
    func add(secret value: JSON) {
        state.withLock { state in
            for text in Self.texts(of: value) where !text.isEmpty && !state.parts.contains(text) {
                state.parts += [text, text.quotedByLua].uniqued()
                state.count += 1
            }
            state.parts.sort { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        }
    }

    private static func texts(of value: JSON) -> [String] {
        switch value {
        case .object(let object): object.members.flatMap { texts(of: $0.value) }
        case .array(let items): items.flatMap(texts)
        case .string(let text): [text]
        case .integer, .numeral: [value.text()]
        case .number(let number): [value.text(), number.shownByLua]
        case .bool, .null: []
        }
    }

    /// The text with `***` in place of secrets.
    func masking(_ text: String) -> String {
        state.withLock { state in
            guard state.count > 0 else { return text }
            if state.count >= Self.limit { return Self.mask }
            if state.whole.contains(text) { return Self.mask }
            var text = text
            for part in state.parts where text.utf8.count >= part.utf8.count { text = text.replacing(part, with: Self.mask) }
            for word in state.words where text.utf8.count >= word.utf8.count { text = text.replacingWord(word, with: Self.mask) }
            return text
        }
    }

    /// Masks every text and number of a JSON value.
    func masking(_ json: JSON) -> JSON {
        switch json {
        case .null, .bool: json
        case .string(let text): .string(masking(text))
        case .integer, .number, .numeral: masking(json.text()) == json.text() ? json : .string(Self.mask)
        case .array(let items): .array(items.map(masking))
        case .object(let object): .object(JSONObject(object.members.map { ($0.key, masking($0.value)) }))
        }
    }

    private static func collect(_ payload: JSON, into state: inout State) {
        guard state.count < limit else { return }
        switch payload {
        case .object(let object): for (_, value) in object.members { collect(value, into: &state) }
        case .array(let items): for item in items { collect(item, into: &state) }
        case .string(let text) where !text.isEmpty:
            if text.count < shortest {
                state.whole.insert(text)
                state.parts.append("\"\(text)\"")
            } else if text.count < longWord, text.allSatisfy(\.isLetter) {
                state.words.append(text)
            } else {
                state.parts += [text, text.quotedByLua].filter { !state.parts.contains($0) }
            }
            state.count += 1
        case .integer(let number): collect(number: "\(number)", into: &state)
        case .number(let number):
            collect(number: "\(number)", into: &state)
            collect(number: number.shownByLua, into: &state)
        case .numeral(let text): collect(number: text, into: &state)
        case .string, .bool, .null: break
        }
    }

    private static func collect(number text: String, into state: inout State) {
        guard text.utf8.count >= shortest, !state.words.contains(text) else { return }
        state.words.append(text)
        state.count += 1
    }
}

extension String {
    /// The text as Lua's `%q` writes it between quotes, and as messages show line ends.
    fileprivate var quotedByLua: String {
        var quoted = ""
        for (index, scalar) in zip(unicodeScalars.indices, unicodeScalars) {
            let next = unicodeScalars[unicodeScalars.index(after: index)...].first
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\0"..."\u{1f}", "\u{7f}":
                let code = String(scalar.value)
                let isBeforeDigit = next.map { ("0"..."9").contains($0) } ?? false
                quoted += "\\" + (isBeforeDigit ? String(repeating: "0", count: 3 - code.count) : "") + code
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }

    /// Replaces a word where no letter or digit adjoins it.
    fileprivate func replacingWord(_ word: String, with mask: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(of: word) {
            let before = rest[..<range.lowerBound].last ?? result.last
            let isAlone = !(before?.isWordPart ?? false) && !(rest[range.upperBound...].first?.isWordPart ?? false)
            result += rest[..<range.lowerBound]
            result += isAlone ? mask : word
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

extension Double {
    /// The number with the digits that Lua prints (LUAI_NUMFFORMAT).
    fileprivate var shownByLua: String {
        var buffer = [CChar](repeating: 0, count: 64)
        _ = withVaList([self]) { vsnprintf(&buffer, buffer.count, "%.14g", $0) }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber }
}

// MARK: - Masking

extension FlowEvent {
    /// Masks an event. What devices show is not masked, because the flow shows it on purpose.
    func masked(by texts: SecretMasker) -> FlowEvent {
        switch self {
        case .stepStarted(let id, let depth, let name): return .stepStarted(id: id, depth: depth, name: texts.masking(name))
        case .stepEnded(var step):
            step.name = texts.masking(step.name)
            step.sends = step.sends.map { $0.masked(by: texts) }
            return .stepEnded(step)
        case .sent(let send): return .sent(send.masked(by: texts))
        case .completed(let send): return .completed(send.masked(by: texts))
        case .log(let level, let text, let location): return .log(level: level, text: texts.masking(text), location: location)
        case .warning(var warning):
            warning.message = texts.masking(warning.message)
            warning.near = warning.near.map(texts.masking)
            return .warning(warning)
        case .shown, .core, .crossed: return self
        }
    }
}

extension FlowSend {
    fileprivate func masked(by texts: SecretMasker) -> FlowSend {
        var send = self
        send.audience = texts.masking(audience)
        send.faults = faults.map(texts.masking)
        return send
    }
}

extension FailedExpectation {
    func masked(by texts: SecretMasker) -> FailedExpectation {
        var masked = self
        masked.message = texts.masking(message)
        masked.expected = expected.map(texts.masking)
        masked.actual = actual.map(texts.masking)
        // The value at the end of the message may be too short to be recognized within other text.
        if let actual, let hidden = masked.actual, hidden != actual, message.hasSuffix(actual) {
            masked.message = texts.masking(String(message.dropLast(actual.count))) + hidden
        }
        return masked
    }
}

extension LuaError {
    func masked(by texts: SecretMasker) -> LuaError {
        var error = self
        if case .table(let table) = details, case .string(let actual)? = table.fields["actual"], code == "expect.failed" {
            error.message = FailedExpectation(message: message, actual: actual).masked(by: texts).message
        } else {
            error.message = texts.masking(message)
        }
        error.hint = hint.map(texts.masking)
        error.details = details.masked(by: texts)
        if ErrorCatalogue.entry(code) == nil, texts.masking(code) != code { error.code = "script.error" }
        return error
    }
}

extension LuaValue {
    fileprivate func masked(by texts: SecretMasker) -> LuaValue {
        switch self {
        case .string(let text): return .string(texts.masking(text))
        case .table(var table):
            table.array = table.array.map { $0.masked(by: texts) }
            table.fields = table.fields.mapValues { $0.masked(by: texts) }
            return .table(table)
        default: return self
        }
    }
}
