import Bindings
import PushCore

// Changes of the list as text, so that comments and the order of what people wrote stay.
extension PluginList {
    /// A change of one entry.
    enum Edit: Sendable {
        case enabled(Bool)
        case grants([Capability])
        /// Nil: what is in the folder is live.
        case pin(String?)
    }

    /// The text with an entry changed, or added at the end where there is none. Throws `plugin.list` where the text is written in a way
    /// that only its writer should change.
    static func changed(_ text: String, path: String, name: String, _ edits: [Edit]) throws(PushError) -> String {
        // A line that ends as in Windows is one character less to Swift than to YAML.
        let isWindows = text.contains("\r\n")
        var text = text.replacing("\r\n", with: "\n")
        let list = try PluginList(text: text, path: path)
        var expected = list[name] ?? Entry(name: name)
        if list[name] == nil {
            // A list that was emptied in words.
            if list.entries.isEmpty {
                text = text.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.filter { $0 != " " } != "[]" }.joined(
                    separator: "\n")
            }
            if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
            text += "- name: \(name)\n"
        }
        // What was added may not be where the writer of the text would have put it.
        let isReadable = (try? PluginList(text: text, path: path)) != nil
        for edit in isReadable ? edits : [] {
            text = try changed(text, path: path, name: name, edit)
            switch edit {
            case .enabled(let flag): expected.isEnabled = flag
            case .grants(let grants): expected.grants = grants
            case .pin(let pin): expected.pin = pin
            }
        }
        guard let result = try? PluginList(text: text, path: path), result[name] == expected,
            result.entries.count == list.entries.count + (list[name] == nil ? 1 : 0)
        else {
            throw refusal([
                "\(path): the entry of \(name) is written in a way that this command does not know how to change: change it by hand"
            ])
        }
        return isWindows ? text.replacing("\n", with: "\r\n") : text
    }

    private static func changed(_ text: String, path: String, name: String, _ edit: Edit) throws(PushError) -> String {
        let list = try PluginList(text: text, path: path)
        guard let number = list.entries.firstIndex(where: { $0.name == name }) else { return text }
        let (key, value): (String, String?) =
            switch edit {
            case .enabled(let flag): ("enabled", flag ? nil : "false")
            case .grants(let grants): ("grants", grants.isEmpty ? nil : "[\(grants.map(\.asYAML).joined(separator: ", "))]")
            case .pin(let pin): ("version", pin.map { "\"\($0)\"" })
            }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let place = list.places[number]
        let old = place.keys.firstIndex { $0.name == key }
        let new = value.map { String(repeating: " ", count: place.indentation) + "\(key): \($0)" }
        guard let old else {
            guard let new, let named = place.keys.first(where: { $0.name == "name" }) else { return text }
            lines.insert(new, at: named.line + 1)
            return lines.joined(separator: "\n")
        }
        // The key that stands behind the dash cannot go.
        guard place.keys[old].line != place.first else { return text }
        let end = lastLine(of: old, place, lines)
        lines.replaceSubrange(place.keys[old].line..<end, with: new.map { [$0] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// Behind the last line of a key's value: what is indented less, empty or a comment is not part of it.
    private static func lastLine(of key: Int, _ place: Place, _ lines: [String]) -> Int {
        let line = place.keys[key].line
        let limit = place.keys.map(\.line).filter { $0 > line }.min() ?? place.end
        var end = line + 1
        for number in (line + 1)..<max(limit, line + 1) {
            let text = lines[number]
            let indentation = text.prefix { $0 == " " }.count
            let isItem = text.dropFirst(indentation).hasPrefix("- ") && indentation >= place.indentation
            guard text.contains(where: { $0 != " " }), indentation > place.indentation || isItem else { break }
            end = number + 1
        }
        return end
    }
}

extension Capability {
    /// As a word of a list in brackets, where stars and colons at the beginning or before a blank would be something else.
    fileprivate var asYAML: String {
        let text = description
        return text.contains("*") || text.contains("[") || text.contains(" ") ? "\"\(text)\"" : text
    }
}
