package import Foundation
import Synchronization
import Testing

/// The built program in its own process.
package struct BuiltProgram: Sendable {
    package var status: Int32 = 0
    /// Whether a signal killed it.
    package var wasKilled = false
    package var output = ""
    package var errors = ""

    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The program beside the test bundle, or the one that `PUSHHOST_TESTED` names: the installed build is optimized differently.
    package static let executable: URL = {
        if let path = ProcessInfo.processInfo.environment["PUSHHOST_TESTED"] { return URL(filePath: path) }
        return tests.appending(path: "pushhost")
    }()

    /// The folder of the test bundle, which contains all build products.
    package static let tests = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        .deletingLastPathComponent()

    /// Runs a shell line in which `$P` is the program.
    package static func shell(_ line: String, in folder: URL = root) async throws -> BuiltProgram {
        try await run(["-c", line], tool: URL(filePath: "/bin/sh"), in: folder)
    }

    /// Runs `pushhost` until it exits. Calls `began` at the first byte of its output.
    package static func run(
        _ arguments: [String], tool: URL = executable, in folder: URL = root, environment: [String: String] = [:],
        began: @escaping @Sendable (Child) -> Void = { _ in }
    ) async throws -> BuiltProgram {
        let child = try Child(tool.path, arguments, in: folder.path, environment: environment)
        async let output = child.output.text { began(child) }
        async let errors = child.errors.text {}
        var program = BuiltProgram(output: await output, errors: await errors)
        let status = await child.end()
        program.wasKilled = status & 0x7f != 0
        program.status = program.wasKilled ? status & 0x7f : status >> 8 & 0xff
        return program
    }
}

/// A child process whose output is read through pipes that no other child inherits.
package struct Child: Sendable {
    package let id: pid_t
    package let output: Outlet
    package let errors: Outlet

    /// The read end of a pipe.
    package struct Outlet: Sendable {
        package let descriptor: Int32

        /// Reads to the end on its own thread: the program blocks when its pipe is full.
        package func text(began: @escaping @Sendable () -> Void) async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var bytes: [UInt8] = []
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
                        if bytes.isEmpty { began() }
                        bytes += buffer[..<count]
                    }
                    close(descriptor)
                    continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
                }
            }
        }
    }

    package struct CannotStart: Error {
        package let status: Int32
    }

    /// Where a child reads from and writes to.
    package enum Streams: Sendable {
        /// No input; standard output and standard error are separate.
        case silent
        /// The other end of a pipe to write to; errors join the output.
        case pipe(input: Int32)
        /// A terminal: its path, and the master end to read from.
        case terminal(path: String, master: Int32)
    }

    package init(
        _ tool: String, _ arguments: [String], in folder: String, environment: [String: String] = [:], streams: Streams = .silent
    ) throws {
        self = try Self.oneAtATime.withLock { _ in
            try Self.spawn(tool, arguments, in: folder, environment: environment, streams: streams)
        }
    }

    private init(id: pid_t, output: Outlet, errors: Outlet) {
        self.id = id
        self.output = output
        self.errors = errors
    }

    /// Serializes spawning: a child spawned meanwhile would inherit the pipes before they are marked close-on-exec.
    private static let oneAtATime = Mutex(())

    /// Creates descriptors and marks them while no child can inherit them.
    package static func whileNoneIsMade<Result>(_ make: () -> sending Result) -> sending Result { oneAtATime.withLock { _ in make() } }

    /// `posix_spawn_file_actions_addclosefrom_np`, which the headers declare only for GNU sources.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map { function in
        unsafeBitCast(function, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    private static func spawn(
        _ tool: String, _ arguments: [String], in folder: String, environment: [String: String], streams: Streams
    ) throws -> Child {
        var (output, errors): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&output) == 0, pipe(&errors) == 0 else { throw CannotStart(status: errno) }
        for descriptor in output + errors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer {
            close(output[1])
            close(errors[1])
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var source = output[0]
        switch streams {
        case .silent:
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
        case .pipe(let input):
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output[1], STDERR_FILENO)
        case .terminal(let path, let master):
            // The first terminal that a session leader opens becomes its controlling terminal, whose Ctrl-C it receives.
            posix_spawnattr_setflags(&attributes, 0x80)  // POSIX_SPAWN_SETSID
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
            close(output[0])
            source = master
        }
        // Sockets of other tests would count against a program's small limit of open files. One that is opened until the child closes
        // them would also stay open in the child after its test has closed it.
        guard let closeFrom, closeFrom(&actions, STDERR_FILENO + 1) == 0 else { throw CannotStart(status: ENOSYS) }
        let variables = ["PATH": "/usr/bin:/bin", "P": BuiltProgram.executable.path].merging(environment) { $1 }
        let shell = ["/bin/sh", "-c", #"cd "$1" && shift && exec "$@""#, "sh", folder, tool]
        var words = (shell + arguments).map { strdup($0) } + [nil]
        var settings = variables.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, shell[0], &actions, &attributes, &words, &settings)
        guard status == 0 else { throw CannotStart(status: status) }
        return Child(id: id, output: Outlet(descriptor: source), errors: Outlet(descriptor: errors[0]))
    }

    package func signal(_ number: Int32) { kill(id, number) }

    /// Waits for the exit. Returns the status in the form of `waitpid`.
    package func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: waitForEnd()) }
        }
    }

    package func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
