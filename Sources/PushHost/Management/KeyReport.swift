import HubWire
import PushModel
import PushRuntime
import WebAPI

/// Formats access keys: as a table without their values, or as connection strings.
struct KeyReport {
    let keys: [JSON]
    /// The server's URL for clients; nil if it is not known.
    let url: String?

    func table(_ palette: Palette) -> [String] {
        guard keys.contains(where: { $0["ceiling"] != nil }) else {
            var table = TextTable("KEY", "RIGHTS", "CREATED", "CHANGED")
            for key in keys { table.add(text(key, "name"), rights(key), text(key, "createdAt"), text(key, "modifiedAt")) }
            return table.lines(palette)
        }
        var table = TextTable("KEY", "RIGHTS", "#CEILING", "CREATED", "CHANGED")
        for key in keys {
            let ceiling = key["ceiling"]?.int?.grouped ?? ""
            table.add(text(key, "name"), rights(key), ceiling, text(key, "createdAt"), text(key, "modifiedAt"))
        }
        return table.lines(palette)
    }

    /// Formats keys with their values, for the operator only.
    /// - Parameter slots: `primary`, `secondary`, or both.
    func revealed(_ palette: Palette, _ slots: [String] = ["primary", "secondary"]) -> [String] {
        keys.flatMap { key in
            ["\(palette.bold(text(key, "name").printable))  \(rights(key))\(ceiling(key))"]
                + slots.compactMap { word in
                    key["\(word)Key"]?.string.map { "  \(word.padded(to: 11))\(string(text(key, "name"), Secret($0)))" }
                }
        }
    }

    private func string(_ name: String, _ key: Secret) -> String {
        url.map { ConnectionString(address: $0, keyName: name, key: key).reveal() } ?? key.reveal()
    }

    private func rights(_ key: JSON) -> String {
        key["rights"]?.array?.compactMap(\.string).joined(separator: ", ") ?? ""
    }

    private func ceiling(_ key: JSON) -> String {
        key["ceiling"]?.int.map { ", at most \($0.deviceCountText) without approval" } ?? ""
    }

    private func text(_ key: JSON, _ name: String) -> String { key[name]?.string ?? "" }
}
