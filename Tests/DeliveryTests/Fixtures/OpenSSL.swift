import Foundation
import Glibc

/// The program `openssl` in a temporary folder, so that its output is independent of the readers under test.
final class OpenSSL: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "openssl-\(UUID().uuidString)")

    struct Failure: Error {
        let arguments: [String]
        let output: String
    }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: folder.appending(path: name)) }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

    /// Runs the program in the folder; `FOLDER/` in an argument is replaced by the folder's path.
    func run(_ arguments: [String]) async throws {
        let log = folder.appending(path: "log").path
        let words = (["openssl"] + arguments).map { $0.replacingOccurrences(of: "FOLDER", with: folder.path) }
        let status: Int32 = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.spawn(words, log)) }
        }
        guard status == 0 else {
            throw Failure(arguments: arguments, output: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
        }
    }

    private static func spawn(_ words: [String], _ log: String) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Keeps sockets of other tests out of the child process.
        let open = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int32($0) }
        for descriptor in open where descriptor > STDERR_FILENO { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        guard posix_spawnp(&id, "openssl", &actions, nil, &arguments, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
