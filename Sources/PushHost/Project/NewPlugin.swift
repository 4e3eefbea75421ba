import Bindings
import PushModel
import PushRuntime

/// The files that `pushhost plugin new` writes.
struct NewPlugin {
    let name: String

    var files: [NewFiles.File] {
        [
            NewFiles.File(path: PluginSource.main, text: text(PackageResources.plugin_lua), purpose: "the plugin"),
            NewFiles.File(path: Self.spec(of: name), text: text(PackageResources.plugin_spec_lua), purpose: "its spec"),
        ]
    }

    /// The file name of the first spec: `frequency_cap_spec.lua` for `frequency-cap`.
    static func spec(of name: String) -> String { "\(name.replacing("-", with: "_"))_spec.lua" }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).replacing("PLUGIN", with: name) }
}
