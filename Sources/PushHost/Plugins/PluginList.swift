import Bindings
import Crypto
import PushCore
import Yams

/// The list of plugins in use, `plugins.yaml`, in the order in which they are asked.
///
/// ```yaml
/// - name: quiet-hours
///   grants: [hub.read]
///   config:
///     from: "22:00"
/// - name: greet
///   enabled: false
/// ```
struct PluginList: Sendable {
    struct Entry: Sendable, Equatable {
        var name: String
        var isEnabled = true
        var grants: [Capability] = []
        var config: JSON = .null
        /// The first digits of the hash of the version that is to be live, whatever is in the folder.
        var pin: String?
    }

    private(set) var entries: [Entry] = []
    /// False of a text that says nothing, not even that no plugin is in use.
    private(set) var isList = false
    /// Where the entries and their keys stand, for edits: lines from 0.
    private(set) var places: [Place] = []

    struct Place: Sendable {
        /// The line of the dash.
        var first: Int
        /// Behind its last line.
        var end: Int
        /// The column of the keys.
        var indentation: Int
        /// The lines of its keys, in order.
        var keys: [(name: String, line: Int)]
    }

    static let keys = ["name", "enabled", "grants", "config", "version"]

    /// What tells a text from another one.
    static func revision(_ text: [UInt8]) -> String { SHA256.hash(data: text).map { String($0, radix: 16) }.joined(separator: ".") }

    subscript(name: String) -> Entry? { entries.first { $0.name == name } }

    /// Throws `plugin.list` with every fault, each with its line.
    init(text: String, path: String) throws(PushError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            let error = error as? YamlError
            throw Self.refusal(["\(path)\(error?.line.map { ":\($0)" } ?? ""): this is not YAML\(error.map { ": \($0.reason)" } ?? "")"])
        }
        guard let root, !root.isEmptyText else { return }
        guard let sequence = root.sequence else {
            throw Self.refusal(["\(path):\(root.mark?.line ?? 1): plugins are written as a list: - name: quiet-hours"])
        }
        isList = true
        var faults: [String] = []
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).count
        for (number, node) in sequence.enumerated() {
            guard let mapping = node.mapping else {
                faults.append("\(path):\(node.mark?.line ?? 1): an entry is written as - name: quiet-hours")
                continue
            }
            let reading = EntryReading(mapping, path)
            faults += reading.faults
            if entries.contains(where: { $0.name == reading.entry.name }) {
                faults.append("\(path):\(node.mark?.line ?? 1): \(reading.entry.name) is there twice")
            }
            entries.append(reading.entry)
            let first = (node.mark?.line ?? 1) - 1
            let next = number + 1 < sequence.count ? sequence[number + 1].mark.map { $0.line - 1 } : nil
            places.append(
                Place(
                    first: first, end: next ?? lines, indentation: max(0, (mapping.first?.key.mark?.column ?? 3) - 1),
                    keys: mapping.compactMap { key, _ in key.mark.map { (key.string ?? "", $0.line - 1) } }))
        }
        guard faults.isEmpty else { throw Self.refusal(faults) }
    }

    static func refusal(_ faults: [String]) -> PushError {
        PushError(
            "plugin.list",
            faults.count == 1 ? faults[0] : "the list of plugins has \(faults.count) faults\n  " + faults.joined(separator: "\n  "),
            hint: "docs/plugins.md shows how it is written", details: ["faults": .array(faults.map(JSON.string))])
    }
}

/// One entry, and what is wrong with it.
private struct EntryReading {
    var entry = PluginList.Entry(name: "")
    var faults: [String] = []

    init(_ mapping: Node.Mapping, _ path: String) {
        func place(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1)" }
        for (key, value) in mapping {
            switch key.string ?? "" {
            case "name": entry.name = value.scalar?.string ?? ""
            case "enabled":
                if let flag = value.bool { entry.isEnabled = flag } else { faults.append("\(place(value)): \"enabled\" is true or false") }
            case "config": entry.config = JSON(value)
            case "version":
                let text = value.scalar?.string.lowercased() ?? ""
                if text.wholeMatch(of: /[0-9a-f]{6,64}/) != nil {
                    entry.pin = text
                } else {
                    faults.append("\(place(value)): \"version\" is the hash of a version, of 6 digits or more")
                }
            case "grants":
                guard let list = value.sequence else {
                    if !value.isEmptyText { faults.append("\(place(value)): \"grants\" is a list: [hub.send, kv]") }
                    continue
                }
                for node in list {
                    let text = node.scalar?.string ?? ""
                    do throws(Capability.Unreadable) {
                        entry.grants.append(try Capability(parsing: text))
                    } catch {
                        faults.append("\(place(node)): \"\(text)\" \(error.reason)")
                    }
                }
            case let other:
                let near = nearest(other, in: PluginList.keys).map { "; did you mean \"\($0)\"?" } ?? ""
                faults.append("\(place(key)): an entry has no \"\(other)\"\(near)")
            }
        }
        if !PluginSource.isName(entry.name) {
            let mark = mapping.first?.key.mark?.line ?? 1
            faults.append(
                entry.name.isEmpty
                    ? "\(path):\(mark): an entry has no \"name\"" : "\(path):\(mark): \"\(entry.name)\" cannot be a plugin's name")
        }
    }
}

extension Node {
    /// It says nothing.
    var isEmptyText: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}

extension JSON {
    /// What a value of YAML is in JSON: plain words are read as YAML 1.2's core schema has them, all else is text.
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
