import FoundationEssentials
import Glibc

/// A temporary folder that is removed with the test.
final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/storage-test-XXXXXX\0".utf8.map(CChar.init(bitPattern:)))
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    struct Failure: Error {}

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func write(_ bytes: [UInt8], to name: String) throws {
        guard FileManager.default.createFile(atPath: file(name), contents: Data(bytes)) else { throw Failure() }
    }

    func bytes(of name: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: file(name)) else { throw Failure() }
        return Array(data)
    }

    func rights(of name: String) throws -> Int {
        var status = stat()
        guard stat(file(name), &status) == 0 else { throw Failure() }
        return Int(status.st_mode & 0o777)
    }
}
