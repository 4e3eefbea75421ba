import Bindings
import FoundationEssentials
import PushModel
import PushRuntime

/// The files that `pushhost init` writes.
struct NewProject {
    let folder: String
    let registry: BindingRegistry

    var files: [NewFiles.File] {
        [
            NewFiles.File(path: "README.md", text: Self.text(PackageResources.project_md), purpose: "next steps"),
            NewFiles.File(path: "scripts/welcome.lua", text: Self.text(PackageResources.welcome_lua), purpose: "a flow"),
            NewFiles.File(path: "scripts/spec/welcome_spec.lua", text: Self.text(PackageResources.welcome_spec_lua), purpose: "its spec"),
            NewFiles.File(
                path: "scripts/demo_secrets.json", text: "{ \"demo_password\": \"correct horse battery staple\" }\n",
                purpose: "passwords for rehearsals"),
            NewFiles.File(path: "types/push.lua", text: EditorStub(registry).text, purpose: "the push module, for editors"),
            NewFiles.File(path: ".luarc.json", text: Self.text(PackageResources.luarc_json), purpose: "settings for lua-language-server"),
            NewFiles.File(path: ".luacheckrc", text: LuacheckProfile.text, purpose: "settings for luacheck"),
            NewFiles.File(path: ".gitignore", text: "/secrets.json\n", purpose: "keeps real secrets out of git"),
        ]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the folder has no files yet, or does not exist.
    var isFolderEmpty: Bool { (try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty ?? true }

    /// Writes all of them. Throws the errors of `NewFiles`.
    func write() throws(PushError) {
        try NewFiles(folder: folder, files: files, hint: "use another folder: pushhost init FOLDER").write()
    }
}
