import Lua
import PushCore

/// The files of a plugin as they were at one moment. What is loaded from them later is from the same moment.
package struct PluginSource: Sendable, Equatable {
    package var name: String
    /// As errors show it: `plugins/greet`.
    package var folder: String
    /// The Lua files by their paths within the folder, `init.lua` and specs among them.
    package var files: [String: [UInt8]]
    /// SHA-256 of the files in hexadecimal digits.
    package var hash: String

    package init(name: String, folder: String, files: [String: [UInt8]], hash: String) {
        self.name = name
        self.folder = folder
        self.files = files
        self.hash = hash
    }

    /// What lists and lines of the log show of the hash.
    package var version: String { String(hash.prefix(Self.shownDigits)) }

    /// Names of plugins are part of paths, keys and lines of the log.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z0-9]+)*/) != nil && name.utf8.count <= 40
    }

    package static let shownDigits = 6
    package static let main = "init.lua"

    package func path(_ file: String) -> String { "\(folder)/\(file)" }

    /// Files that test it.
    package var specs: [String] { files.keys.filter { $0.hasSuffix("_spec.lua") }.sorted() }

    /// `require "text.short"` gives `text/short.lua`, or else `text/short/init.lua`.
    package var modules: LuaSearchPath {
        .lookup { [files, folder] name in
            LuaSearchPath.files(of: name).lazy.compactMap { file in
                files[file].map { LuaScript(name: "\(folder)/\(file)", source: $0) }
            }.first
        }
    }

    /// Throws `plugin.no_main`.
    var script: FlowScript {
        get throws(LuaError) {
            guard let source = files[Self.main] else {
                throw .misuse(
                    "plugin.no_main", "\(folder) has no \(Self.main), so it is no plugin",
                    hint: "pushhost plugin new \(name) makes one to begin with")
            }
            return FlowScript(name: path(Self.main), source: source, version: version)
        }
    }
}
