import Foundation
import Glibc

extension Package {
    struct ScriptFailure: Error {
        let script: String
        let output: String
    }

    /// Runs a script of this folder with `--json` and decodes its output.
    static func report<Report: Decodable & Sendable>(_ type: Report.Type, from script: String) async throws -> Report {
        // The output is a file: programs that other tests start would inherit a pipe.
        let file = FileManager.default.temporaryDirectory.appending(path: "pushhost-report-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let words = ["python3", root.appending(path: "Tests/ArchitectureTests/\(script)").path, "--json"]
        let path = file.path
        let status: Int32 = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.spawn(words, path)) }
        }
        let output = try Data(contentsOf: file)
        guard status == 0 else { throw ScriptFailure(script: script, output: String(decoding: output, as: UTF8.self)) }
        return try JSONDecoder().decode(type, from: output)
    }

    private static func spawn(_ words: [String], _ output: String) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Keeps sockets of other tests out of the child process.
        let open = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int32($0) }
        for descriptor in open where descriptor > STDERR_FILENO { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        guard posix_spawn(&id, "/usr/bin/python3", &actions, nil, &arguments, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
