package import Lua
import PushModel

/// A snapshot of a plugin's files. Modules that it requires later come from the same snapshot.
package struct PluginSource: Sendable, Equatable {
    package var name: String
    /// The folder as errors show it: `plugins/greet`.
    package var folder: String
    /// The Lua files by path within the folder, including `init.lua` and specs.
    package var files: [String: [UInt8]]
    /// SHA-256 of the files in hexadecimal.
    package var hash: String

    package init(name: String, folder: String, files: [String: [UInt8]], hash: String) {
        self.name = name
        self.folder = folder
        self.files = files
        self.hash = hash
    }

    /// The part of the hash shown in lists and logs.
    package var version: String { String(hash.prefix(Self.shownDigits)) }

    /// Whether a name is valid. Names are part of paths, keys and log lines.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z0-9]+)*/) != nil && name.utf8.count <= 40
    }

    package static let shownDigits = 6
    package static let main = "init.lua"

    package func path(_ file: String) -> String { "\(folder)/\(file)" }

    /// Names of the test files.
    package var specs: [String] { files.keys.filter { $0.hasSuffix("_spec.lua") }.sorted() }

    /// Resolves modules: `require "text.short"` loads `text/short.lua`, or else `text/short/init.lua`.
    package var modules: LuaSearchPath {
        .lookup { [files, folder] name in
            LuaSearchPath.files(of: name).lazy.compactMap { file in
                files[file].map { LuaScript(name: "\(folder)/\(file)", source: $0) }
            }.first
        }
    }

    /// The main file. Throws `plugin.no_main`.
    var script: FlowScript {
        get throws(LuaError) {
            guard let source = files[Self.main] else {
                throw .misuse(
                    "plugin.no_main", "\(folder) is not a plugin: it has no \(Self.main)",
                    hint: "pushhost plugin new \(name) creates one")
            }
            return FlowScript(name: path(Self.main), source: source, version: version)
        }
    }
}
