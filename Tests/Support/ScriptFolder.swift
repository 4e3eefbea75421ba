package import Foundation

/// A temporary folder of scripts, deleted after the test.
package final class ScriptFolder: Sendable {
    package let url: URL

    package init(_ scripts: [String: String] = [:]) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "pushhost-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try write("demo_secrets.json", Data(#"{ "demo_password": "correct horse battery staple" }"#.utf8))
        for (name, text) in scripts { try write(name, Data(text.utf8)) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func write(_ name: String, _ data: Data) throws {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }
}
