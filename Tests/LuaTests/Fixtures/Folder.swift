import FoundationEssentials
import Glibc

/// An empty temporary folder that is removed after the test.
final class Folder: Sendable {
    let path: String

    init(_ files: [String: String] = [:]) throws {
        var template = Array("/tmp/lua-test-XXXXXX\0".utf8.map(CChar.init(bitPattern:)))
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for (name, text) in files { try write(name, text) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    struct Failure: Error {}

    func write(_ name: String, _ text: String) throws {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            mkdir(folder, 0o700)
        }
        guard let file = fopen("\(path)/\(name)", "w") else { throw Failure() }
        defer { fclose(file) }
        let bytes = Array(text.utf8)
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure() }
    }
}
