import Lua
import LuaSyntax
import PushModel

/// Finds invalid contents of texts and numbers among the arguments of a call.
struct ContentCheck {
    enum Problem {
        case finding(SourceFinding)
        /// A secret that is written into the script.
        case secret(name: String, at: Range<Int>)
    }

    let text: SourceText
    /// The name of the called function.
    let function: String
    private(set) var problems: [Problem] = []

    init(text: SourceText, function: String) {
        self.text = text
        self.function = function
    }

    private mutating func report(_ finding: SourceFinding) { problems.append(.finding(finding)) }

    /// Checks the content of texts and numbers for a parameter.
    mutating func examine(_ value: SourceValue, as type: ParameterType, named name: String) {
        switch (type, value.content) {
        case (.list(let element), .table(let items, _, _)):
            for item in items { examine(item, as: element, named: name) }
        case (.map(let element), .table(_, let fields, _)):
            for (_, item) in fields.sorted(by: { $0.key < $1.key }) { examine(item, as: element, named: name) }
        case (.byPlatform(let element), .table(_, let fields, _)):
            for (key, item) in fields.sorted(by: { $0.key < $1.key }) {
                examine(.string(key), as: .platform, named: key, at: value.keys[key] ?? value.range)
                examine(item, as: element, named: name)
                if name == "payload" { warnOfEmptyLists(in: item) }
            }
        case (.template, .table):
            for (key, item) in value.fields where key == "body" { examine(item, as: .template, named: key) }
            for (name, item) in (value.fields["headers"]?.fields ?? [:]).sorted(by: { $0.key < $1.key }) {
                if case .string(let text)? = item.luaValue {
                    warn(of: PushHeader(name, text).embeddedExpression, in: text, at: item.range, literal: item.literal)
                }
            }
        case (.either(let types), _):
            if let fitting = types.first(where: { $0.fault(in: value) == nil }) { examine(value, as: fitting, named: name) }
        case (.secret, .string(let content)):
            guard !content.isEmpty else { return }
            problems.append(.secret(name: name, at: value.literal ?? value.range))
        default:
            guard let known = value.luaValue else { return }
            examine(known, as: type, named: name, at: value.range, literal: value.literal)
        }
    }

    private mutating func examine(
        _ value: LuaValue, as type: ParameterType, named name: String, at range: Range<Int>, literal: Range<Int>? = nil
    ) {
        do throws(LuaError) {
            try type.examine(value, named: name, of: function)
            if case (.template, .string(let body)) = (type, value) { warnOfTexts(in: body, at: range, literal: literal) }
        } catch {
            var span = range
            if let literal, case .string(let content) = value, let offset = error.offset(in: content) {
                span = self.span(of: offset, in: content, literal)
            }
            report(SourceFinding(error, at: span))
        }
    }

    /// Warns of template expressions that a device would show unreplaced.
    private mutating func warnOfTexts(in body: String, at range: Range<Int>, literal: Range<Int>?) {
        guard let template = try? Template(compiling: body) else { return }
        for found in template.embeddedExpressions { warn(of: found, in: body, at: range, literal: literal) }
    }

    /// Warns of an expression in a text of the script, at its place in the text.
    private mutating func warn(of found: EmbeddedExpression?, in text: String, at range: Range<Int>, literal: Range<Int>?) {
        guard let found else { return }
        report(
            SourceFinding(
                EmbeddedExpression.code, found.message, hint: found.hint, severity: .warning,
                at: literal.map { span(of: found.offset, in: text, $0) } ?? range))
    }

    /// Warns of empty tables in a payload where push services expect a list, because they are written as `{}`.
    private mutating func warnOfEmptyLists(in value: SourceValue) {
        switch value.content {
        case .table(let items, let fields, _):
            for item in items { warnOfEmptyLists(in: item) }
            for (key, item) in fields.sorted(by: { $0.value.range.lowerBound < $1.value.range.lowerBound }) {
                if item.isEmptyTable, let list = EmptyPayloadList(key: key) {
                    warn(of: list, at: item.range)
                } else {
                    warnOfEmptyLists(in: item)
                }
            }
        case .string(let body): for list in EmptyPayloadList.all(in: Array(body.utf8)) { warn(of: list, at: value.range) }
        default: break
        }
    }

    private mutating func warn(of list: EmptyPayloadList, at range: Range<Int>) {
        report(SourceFinding(EmptyPayloadList.code, list.message, hint: list.hint, severity: .warning, at: range))
    }

    /// The character of the script that produced a byte of a string.
    private func span(of offset: Int, in value: String, _ literal: Range<Int>) -> Range<Int> {
        let origin = text.origins(ofString: literal)[min(offset, value.utf8.count)]
        return origin..<min(origin + 1, literal.upperBound)
    }
}

extension SourceValue {
    fileprivate var isEmptyTable: Bool {
        if case .table(let items, let fields, true) = content { items.isEmpty && fields.isEmpty } else { false }
    }

    fileprivate var fields: [String: SourceValue] {
        if case .table(_, let fields, _) = content { fields } else { [:] }
    }
}

extension LuaError {
    /// The byte offset of a template or tag expression error within its text. `details.position` counts characters, from the beginning of
    /// `details.line` if that is present.
    fileprivate func offset(in text: String) -> Int? {
        guard case .table(let table) = details, case .integer(let position)? = table.fields["position"] else { return nil }
        var rest = text[...]
        if case .integer(let line)? = table.fields["line"] {
            for _ in 1..<max(1, line) {
                guard let end = rest.utf8.firstIndex(of: 0x0a) else { break }
                rest = rest[rest.utf8.index(after: end)...]
            }
        }
        let before = rest.prefix(max(0, Int(position) - 1))
        return text.utf8.distance(from: text.startIndex, to: before.endIndex)
    }
}
