import PushLab
import PushModel
import PushRuntime
import Yams

/// Parses `pushhost.yaml` and collects all faults.
struct SettingsFile {
    struct Fault: Equatable {
        var line: Int?
        var text: String
    }

    /// The given settings with their values.
    private(set) var values: [(setting: Setting, value: Setting.Value)] = []
    private(set) var faults: [Fault] = []
    private(set) var flows: [ServedFlow] = []

    init(text: String) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            faults.append(Fault(line: error.line, text: "invalid YAML (\(error.reason))"))
            return
        } catch {
            faults.append(Fault(line: nil, text: "invalid YAML (\(error))"))
            return
        }
        guard let root, !root.isNull else { return }
        guard let mapping = root.mapping else {
            faults.append(Fault(line: root.mark?.line, text: "settings must have the form name: value"))
            return
        }
        read(mapping, prefix: "")
    }

    private mutating func read(_ mapping: Node.Mapping, prefix: String) {
        for (key, node) in mapping {
            let name = prefix + (key.string ?? "")
            let line = key.mark?.line
            // The commands that run flows read these groups.
            if prefix.isEmpty, TargetsFile.groups.contains(name) { continue }
            if prefix.isEmpty, name == FlowSettingsReader.group {
                let reading = FlowSettingsReader(node)
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
                    faults.append(Fault(line: line, text: "\"\(name)\" is a group of settings and has no value"))
                }
            } else {
                let names = ServerSettings.all.map(\.name)
                let near = nearest(name, in: names + names.compactMap { $0.split(separator: ".").first.map(String.init) })
                faults.append(
                    Fault(line: line, text: "unknown setting \"\(name)\"" + (near.map { "; did you mean \"\($0)\"?" } ?? "")))
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
            faults.append(Fault(line: line, text: "\"\(setting.name)\" must be \(setting.form)"))
            return
        }
        values.append((setting, value))
    }
}

extension Node {
    fileprivate var isNull: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}
