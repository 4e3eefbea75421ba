/// A flow's source, with its name for errors and a hash that identifies its version.
package struct FlowScript: Sendable, Equatable {
    package var name: String
    package var source: [UInt8]
    package var version: String
    /// Folders of the scripts that ran this one. It may name scripts in them too.
    package var roots: [String] = []

    package init(name: String, source: [UInt8], version: String) {
        self.name = name
        self.source = source
        self.version = version
    }
}

extension FlowScript {
    /// The first line of the comment at the head of the script; empty if there is none.
    package var summary: String { introduction.first { !$0.isEmpty } ?? "" }

    /// The lines of that comment.
    package var introduction: [String] {
        let text = String(decoding: source, as: UTF8.self)
        let comment = text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0.hasPrefix("#!") || $0.hasPrefix("\u{feff}") }
            .prefix { $0.hasPrefix("--") && !$0.hasPrefix("--[") }
            .map { line in String(line.drop { $0 == "-" }.drop { $0 == " " }) }
        return comment.isEmpty ? [] : comment + [""]
    }

    /// The script's name without its folder and `.lua`, such as `notify_users` for `scripts/notify_users.lua`.
    package var title: String {
        let name = name.split(separator: "/").last.map(String.init) ?? name
        return name.hasSuffix(".lua") ? String(name.dropLast(4)) : name
    }

    package var folder: String {
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }
}
