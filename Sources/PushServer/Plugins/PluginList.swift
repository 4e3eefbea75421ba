package import Bindings
import Crypto
package import PushModel
import PushRuntime
import Yams

/// The list of plugins in use, `plugins.yaml`. Hooks run in the order of the list.
///
/// ```yaml
/// - name: quiet-hours
///   grants: [hub.read]
///   config:
///     from: "22:00"
/// - name: greet
///   enabled: false
/// ```
package struct PluginList: Sendable {
    package struct Entry: Sendable, Equatable {
        package var name: String
        package var isEnabled = true
        package var grants: [Capability] = []
        var config: JSON = .null
        /// The first digits of the version's hash. A pinned version is used whatever the folder contains.
        package var pin: String?

        package init(name: String, grants: [Capability] = [], config: JSON = .null, pin: String? = nil) {
            self.name = name
            self.grants = grants
            self.config = config
            self.pin = pin
        }
    }

    package private(set) var entries: [Entry] = []
    /// Whether the text contains a list, even an empty one (`[]`). `false` for an empty text.
    private(set) var isList = false
    /// Source positions of the entries and their keys, for edits. Lines count from 0.
    private(set) var positions: [Position] = []

    package struct Position: Sendable {
        /// The entry's first line, which has the dash.
        var firstLine: Int
        /// The line after its last one.
        var end: Int
        /// The column of the keys, from 0.
        var indentation: Int
        /// The keys in source order, with their lines.
        var keys: [(name: String, line: Int)]
    }

    static let keys = ["name", "enabled", "grants", "config", "version"]

    /// Hash of the text, to detect changes.
    static func revision(_ text: [UInt8]) -> String { SHA256.hash(data: text).map { String($0, radix: 16) }.joined(separator: ".") }

    package subscript(name: String) -> Entry? { entries.first { $0.name == name } }

    /// Parses the list. Throws `plugin.list` with every fault and its line.
    package init(text: String, path: String) throws(PushError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            let error = error as? YamlError
            throw Self.refusal(["\(path)\(error?.line.map { ":\($0)" } ?? ""): invalid YAML\(error.map { " (\($0.reason))" } ?? "")"])
        }
        guard let root, !root.isEmptyScalar else { return }
        guard let sequence = root.sequence else {
            throw Self.refusal(["\(path):\(root.mark?.line ?? 1): plugins must be a list, such as - name: quiet-hours"])
        }
        isList = true
        var faults: [String] = []
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).count
        for (number, node) in sequence.enumerated() {
            guard let mapping = node.mapping else {
                faults.append("\(path):\(node.mark?.line ?? 1): an entry must have the form - name: quiet-hours")
                continue
            }
            let reading = PluginEntryParser(mapping, path)
            faults += reading.faults
            if entries.contains(where: { $0.name == reading.entry.name }) {
                faults.append("\(path):\(node.mark?.line ?? 1): \(reading.entry.name) is listed twice")
            }
            entries.append(reading.entry)
            let first = (node.mark?.line ?? 1) - 1
            let next = number + 1 < sequence.count ? sequence[number + 1].mark.map { $0.line - 1 } : nil
            positions.append(
                Position(
                    firstLine: first, end: next ?? lines, indentation: max(0, (mapping.first?.key.mark?.column ?? 3) - 1),
                    keys: mapping.compactMap { key, _ in key.mark.map { (key.string ?? "", $0.line - 1) } }))
        }
        guard faults.isEmpty else { throw Self.refusal(faults) }
    }

    static func refusal(_ faults: [String]) -> PushError {
        PushError(
            "plugin.list",
            faults.count == 1 ? faults[0] : "the list of plugins has \(faults.count) errors\n  " + faults.joined(separator: "\n  "),
            hint: "see docs/how-to/plugins.md for the format", details: ["faults": .array(faults.map(JSON.string))])
    }
}

/// Parses one entry and collects its faults.
private struct PluginEntryParser {
    var entry = PluginList.Entry(name: "")
    var faults: [String] = []

    init(_ mapping: Node.Mapping, _ path: String) {
        func position(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1)" }
        for (key, value) in mapping {
            switch key.string ?? "" {
            case "name": entry.name = value.scalar?.string ?? ""
            case "enabled":
                if let flag = value.bool {
                    entry.isEnabled = flag
                } else {
                    faults.append("\(position(value)): \"enabled\" must be true or false")
                }
            case "config": entry.config = JSON(value)
            case "version":
                let text = value.scalar?.string.lowercased() ?? ""
                if text.wholeMatch(of: /[0-9a-f]{6,64}/) != nil {
                    entry.pin = text
                } else {
                    faults.append("\(position(value)): \"version\" must be the hash of a version, at least its first 6 digits")
                }
            case "grants":
                guard let list = value.sequence else {
                    if !value.isEmptyScalar { faults.append("\(position(value)): \"grants\" must be a list, such as [hub.send, kv]") }
                    continue
                }
                for node in list {
                    let text = node.scalar?.string ?? ""
                    do throws(Capability.Unreadable) {
                        entry.grants.append(try Capability(parsing: text))
                    } catch {
                        faults.append("\(position(node)): \(error.reason)")
                    }
                }
            case let other:
                let near = nearest(other, in: PluginList.keys).map { "; did you mean \"\($0)\"?" } ?? ""
                faults.append("\(position(key)): unknown key \"\(other)\" in an entry\(near)")
            }
        }
        if !PluginSource.isName(entry.name) {
            let mark = mapping.first?.key.mark?.line ?? 1
            faults.append(
                entry.name.isEmpty
                    ? "\(path):\(mark): an entry has no \"name\"" : "\(path):\(mark): invalid plugin name \"\(entry.name)\"")
        }
    }
}

extension Node {
    /// Whether the node is an empty or null scalar.
    var isEmptyScalar: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}

extension JSON {
    /// Converts a YAML value to JSON. Plain scalars are resolved by the core schema of YAML 1.2; all other scalars are strings.
    init(_ node: Node) {
        switch node {
        case .mapping(let mapping):
            var object = JSONObject()
            for (key, value) in mapping { object[key.string ?? ""] = JSON(value) }
            self = .object(object)
        case .sequence(let sequence): self = .array(sequence.map { JSON($0) })
        case .scalar(let scalar):
            guard scalar.style == .plain else {
                self = .string(scalar.string)
                return
            }
            switch scalar.string {
            case "", "~", "null": self = .null
            case "true": self = .bool(true)
            case "false": self = .bool(false)
            case let text:
                if let number = Int64(text) {
                    self = .integer(number)
                } else if text.first.map({ $0.isNumber || "+-.".contains($0) }) == true, let number = Double(text), number.isFinite {
                    self = .number(number)
                } else {
                    self = .string(text)
                }
            }
        case .alias: self = .null
        }
    }
}
