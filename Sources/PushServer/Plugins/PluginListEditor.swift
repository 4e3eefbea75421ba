package import Bindings
package import PushModel

/// Edits the list of plugins as text, so that comments and the order of keys are preserved.
package struct PluginListEditor: Sendable {
    private let path: String

    /// - Parameter path: the path of the list, for messages.
    package init(path: String) { self.path = path }

    /// A change of one entry.
    package enum Edit: Sendable {
        case enabled(Bool)
        case grants([Capability])
        /// Pins a version by its hash; `nil` removes the pin, so that the files of the folder are used.
        case pin(String?)
    }

    /// Returns the text with one entry changed; a missing entry is appended. Throws `plugin.list` if the YAML is written in a style that
    /// cannot be edited safely.
    package func changed(_ text: String, name: String, _ edits: [Edit]) throws(PushError) -> String {
        // Swift treats "\r\n" as one character, YAML columns and lines do not: edit with "\n" and convert back.
        let isWindows = text.contains("\r\n")
        var text = text.replacing("\r\n", with: "\n")
        let list = try PluginList(text: text, path: path)
        var expected = list[name] ?? PluginList.Entry(name: name)
        if list[name] == nil {
            // An explicitly empty list: `[]`.
            if list.entries.isEmpty {
                text = text.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.filter { $0 != " " } != "[]" }.joined(
                    separator: "\n")
            }
            if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
            text += "- name: \(name)\n"
        }
        // The appended entry may not fit the style of the text. The check of the result below reports that.
        let isReadable = (try? PluginList(text: text, path: path)) != nil
        for edit in isReadable ? edits : [] {
            text = try changed(text, name: name, edit)
            switch edit {
            case .enabled(let flag): expected.isEnabled = flag
            case .grants(let grants): expected.grants = grants
            case .pin(let pin): expected.pin = pin
            }
        }
        guard let result = try? PluginList(text: text, path: path), result[name] == expected,
            result.entries.count == list.entries.count + (list[name] == nil ? 1 : 0)
        else {
            throw PluginList.refusal([
                "\(path): this command cannot edit the entry of \(name) as it is written; not changed: change it by hand"
            ])
        }
        return isWindows ? text.replacing("\n", with: "\r\n") : text
    }

    private func changed(_ text: String, name: String, _ edit: Edit) throws(PushError) -> String {
        let list = try PluginList(text: text, path: path)
        guard let number = list.entries.firstIndex(where: { $0.name == name }) else { return text }
        let (key, value): (String, String?) =
            switch edit {
            case .enabled(let flag): ("enabled", flag ? nil : "false")
            case .grants(let grants): ("grants", grants.isEmpty ? nil : "[\(grants.map(\.asYAML).joined(separator: ", "))]")
            case .pin(let pin): ("version", pin.map { "\"\($0)\"" })
            }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let position = list.positions[number]
        let old = position.keys.firstIndex { $0.name == key }
        let new = value.map { String(repeating: " ", count: position.indentation) + "\(key): \($0)" }
        guard let old else {
            guard let new, let named = position.keys.first(where: { $0.name == "name" }) else { return text }
            lines.insert(new, at: named.line + 1)
            return lines.joined(separator: "\n")
        }
        // The key on the line of the dash cannot be removed.
        guard position.keys[old].line != position.firstLine else { return text }
        let end = lastLine(of: old, position, lines)
        lines.replaceSubrange(position.keys[old].line..<end, with: new.map { [$0] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// The line after a key's value. Blank lines and lines with less indentation are not part of the value.
    private func lastLine(of key: Int, _ position: PluginList.Position, _ lines: [String]) -> Int {
        let line = position.keys[key].line
        let limit = position.keys.map(\.line).filter { $0 > line }.min() ?? position.end
        var end = line + 1
        for number in (line + 1)..<max(limit, line + 1) {
            let text = lines[number]
            let indentation = text.prefix { $0 == " " }.count
            let isItem = text.dropFirst(indentation).hasPrefix("- ") && indentation >= position.indentation
            guard text.contains(where: { $0 != " " }), indentation > position.indentation || isItem else { break }
            end = number + 1
        }
        return end
    }
}

extension Capability {
    /// The capability as an item of a YAML flow sequence; quoted if it contains characters that are special there.
    fileprivate var asYAML: String {
        let text = description
        return text.contains("*") || text.contains("[") || text.contains(" ") ? "\"\(text)\"" : text
    }
}
