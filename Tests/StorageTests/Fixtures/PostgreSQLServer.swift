import Foundation
import PushModel
import Support
import Synchronization

@testable import Storage

/// A temporary PostgreSQL server: one for the whole process, reached only through a socket in its own folder. It ends with the process,
/// however that ends.
final class PostgreSQLServer: Sendable {
    /// The folder of its socket.
    let folder: String
    /// Ends the server when it is closed.
    private let input: FileHandle
    private let output: FileHandle

    private static let shared = Mutex<Result<PostgreSQLServer, Failure>?>(nil)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The server, which is started by the first caller.
    static func running() throws -> PostgreSQLServer {
        try shared.withLock { shared in
            let result = shared ?? Result { () throws(Failure) in try PostgreSQLServer() }
            shared = result
            return try result.get()
        }
    }

    /// Creates a cluster and serves it until standard input ends. The server refuses to run as root.
    private static let script = """
        tools=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
        PATH="$tools:$PATH"
        command -v initdb >/dev/null || { echo "initdb is missing: install Debian's package postgresql, or run make setup-tests"; exit 1; }
        folder=$(mktemp -d /tmp/postgresql-test-XXXXXX) || exit 1
        trap 'pg_ctl -D "$folder/data" -m immediate -w stop >/dev/null 2>&1; rm -rf "$folder"' EXIT
        initdb -D "$folder/data" -U tester -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1 &&
        { echo "listen_addresses = ''"; echo "unix_socket_directories = '$folder'"; echo "fsync = off"; echo "max_connections = 300"; } \\
          >>"$folder/data/postgresql.conf" &&
        sed -i '1i local all guarded scram-sha-256' "$folder/data/pg_hba.conf" &&
        pg_ctl -D "$folder/data" -l "$folder/server" -t 120 -w start \\
          >>"$folder/log" 2>&1 || { tr '\\n' ' ' <"$folder/log"; exit 1; }
        createuser -h "$folder" -U tester server >>"$folder/log" 2>&1 || { tr '\\n' ' ' <"$folder/log"; exit 1; }
        echo "ready $folder"
        while read -r mode; do
            pg_ctl -D "$folder/data" -m "$mode" -w stop >>"$folder/log" 2>&1
            pg_ctl -D "$folder/data" -l "$folder/server" -t 120 -w start >>"$folder/log" 2>&1 && echo ready
        done
        """

    private init() throws(Failure) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script]
        if geteuid() == 0 {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            process.arguments = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/bin/sh", "-c", Self.script]
        }
        process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        // Otherwise programs that other tests start would keep the server running.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        do {
            try process.run()
        } catch {
            throw Failure(description: "PostgreSQL cannot be started: \(error)")
        }
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard answer.hasPrefix("ready ") else {
            throw Failure(description: "PostgreSQL cannot be started: \(answer.trimmingCharacters(in: .whitespacesAndNewlines))")
        }
        folder = answer.dropFirst("ready ".count).trimmingCharacters(in: .whitespacesAndNewlines)
        (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
    }

    /// A server for one test, which may restart it. It ends when it is released.
    static func own() async throws -> PostgreSQLServer { try await blocking { try PostgreSQLServer() } }

    /// Ends all processes of the server without a shutdown, as if they had crashed, and starts it again.
    func crash() async throws {
        try await blocking { [self] in
            try input.write(contentsOf: Array("immediate\n".utf8))
            guard String(decoding: output.availableData, as: UTF8.self) == "ready\n" else {
                throw Failure(description: "PostgreSQL cannot be started again")
            }
        }
    }

    // MARK: - Databases

    private static let databases = Atomic(0)

    /// Runs `work` with the address of an empty schema, which is removed afterwards.
    func withSchema(_ work: (PostgreSQLAddress) async throws -> Void) async throws {
        let name = "test_\(Self.databases.add(1, ordering: .relaxed).newValue)"
        try await execute("CREATE SCHEMA \(name) AUTHORIZATION server")
        try await work(try address(schema: name, user: "server"))
        try await execute("SET client_min_messages = warning", "DROP SCHEMA \(name) CASCADE")
    }

    /// The user `guarded`, if it is created, needs its password.
    ///
    /// - Parameter user: `tester`, who may do everything, or `server`, who owns the schemas of tests.
    func address(schema: String = "public", user: String = "tester") throws -> PostgreSQLAddress {
        try PostgreSQLAddress("postgres://\(user)@/postgres?host=\(folder)&options=-csearch_path%3D\(schema)")
    }

    /// Runs statements on a connection of their own.
    func execute(schema: String = "public", _ statements: String...) async throws {
        let address = try address(schema: schema)
        try await blocking {
            let connection = try PostgreSQLConnection(to: address, PostgreSQLLimits())
            for statement in statements { try connection.run(statement) }
        }
    }
}
