import PushCore
import Yams

/// `pushhost.yaml`: read once into plain values; every fault is listed, not the first alone.
struct SettingsFile {
    struct Fault: Equatable {
        var line: Int?
        var text: String
    }

    /// What was given, by the name of the setting, with where.
    private(set) var values: [(setting: Setting, value: Setting.Value)] = []
    private(set) var faults: [Fault] = []
    private(set) var flows: [ServedFlow] = []

    init(text: String) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            faults.append(Fault(line: error.line, text: "this is not YAML: \(error.reason)"))
            return
        } catch {
            faults.append(Fault(line: nil, text: "this is not YAML: \(error)"))
            return
        }
        guard let root, !root.isNull else { return }
        guard let mapping = root.mapping else {
            faults.append(Fault(line: root.mark?.line, text: "settings are written as name: value"))
            return
        }
        read(mapping, prefix: "")
    }

    private mutating func read(_ mapping: Node.Mapping, prefix: String) {
        for (key, node) in mapping {
            let name = prefix + (key.string ?? "")
            let line = key.mark?.line
            // Those that run flows read these.
            if prefix.isEmpty, TargetsFile.groups.contains(name) { continue }
            if prefix.isEmpty, name == FlowsReading.group {
                let reading = FlowsReading(node)
                (flows, faults) = (reading.flows, faults + reading.faults)
                continue
            }
            let isGroup = ServerSettings.all.contains { $0.name.hasPrefix(name + ".") }
            if isGroup, let inner = node.mapping {
                read(inner, prefix: name + ".")
            } else if let setting = ServerSettings.all.first(where: { $0.name == name }) {
                read(setting, node, line)
            } else if isGroup {
                if !node.isNull {
                    faults.append(Fault(line: line, text: "\"\(name)\" holds further settings, not a value"))
                }
            } else {
                let names = ServerSettings.all.map(\.name)
                let near = nearest(name, in: names + names.compactMap { $0.split(separator: ".").first.map(String.init) })
                faults.append(
                    Fault(line: line, text: "there is no setting \"\(name)\"" + (near.map { "; did you mean \"\($0)\"?" } ?? "")))
            }
        }
    }

    private mutating func read(_ setting: Setting, _ node: Node, _ line: Int?) {
        let texts: [String]?
        if let sequence = node.sequence {
            texts = setting.kind == .list ? sequence.compactMap(\.scalar?.string) : nil
        } else {
            texts = node.isNull && setting.kind != .port && setting.kind != .count ? nil : node.scalar.map { [$0.string] }
        }
        guard let texts, let value = setting.value(texts == ["~"] || texts == ["null"] ? ["none"] : texts) else {
            faults.append(Fault(line: line, text: "\"\(setting.name)\" takes \(setting.form)"))
            return
        }
        values.append((setting, value))
    }
}

extension Node {
    fileprivate var isNull: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}

extension YamlError {
    var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }

    /// Without the line itself, which may hold a secret.
    var reason: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _): problem
        case .duplicatedKeysInMapping(let names, _):
            "\(names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")) is there more than once"
        default: "\(self)".split(separator: "\n").first.map(String.init) ?? "it cannot be read"
        }
    }
}
