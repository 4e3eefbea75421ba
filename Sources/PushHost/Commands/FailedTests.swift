import Bindings
import Glibc
import PushModel
import PushRuntime

/// The tests that failed when they were last run, for `--last-failed`. Stored in the working directory.
struct FailedTests: Sendable, Equatable {
    static let path = "\(folder)/last-failed.json"
    private static let folder = ".pushhost"
    private static let schema = "pushhost.failed-tests/1"
    private static let limit = 16 << 20

    /// Full names by spec.
    private var names: [String: Set<String>] = [:]
    /// Specs that could not be run. All of their tests count as failed.
    private var broken: Set<String> = []

    init() {}

    init(parsing bytes: [UInt8]) throws(JSONError) {
        let document = try JSON(parsing: bytes)
        for (spec, tests) in document["failed"]?.object?.members ?? [] { names[spec] = Set((tests.array ?? []).compactMap(\.string)) }
        broken = Set((document["unreadable"]?.array ?? []).compactMap(\.string))
    }

    /// Reads the file. No failures if there is none, or if it is damaged: then all tests are run, which is never wrong.
    static func read() -> FailedTests {
        guard let bytes = try? TextFile.read(path, limit: limit, kind: "script") else { return FailedTests() }
        return (try? FailedTests(parsing: bytes)) ?? FailedTests()
    }

    var isEmpty: Bool { names.isEmpty && broken.isEmpty }

    func contains(_ test: String, of spec: String) -> Bool {
        let spec = FilePath.normalized(spec)
        return broken.contains(spec) || names[spec]?.contains(test) == true
    }

    /// Enters the results of a run. Tests that did not run keep their state, unless their spec no longer declares them.
    mutating func enter(_ files: [TestFile]) {
        for file in files {
            let spec = FilePath.normalized(file.script.name)
            guard file.failure == nil else {
                broken.insert(spec)
                continue
            }
            var failed = names[spec] ?? []
            failed.formIntersection(file.declaredNames)
            for record in file.records {
                if record.status == .failed { failed.insert(record.test.fullName) } else { failed.remove(record.test.fullName) }
            }
            names[spec] = failed.isEmpty ? nil : failed
            if file.records.count == file.declared { broken.remove(spec) }
        }
    }

    /// The content of the file.
    var document: JSON {
        [
            "schema": .string(Self.schema),
            "failed": .object(
                JSONObject(names.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.sorted().map(JSON.string))) })),
            "unreadable": .array(broken.sorted().map(JSON.string)),
        ]
    }

    /// Writes the file, and a `.gitignore` beside it. Without failures, nothing is written if there is no file yet. A folder that cannot be
    /// written is not reported: the next run with `--last-failed` then runs all tests.
    func write() {
        if isEmpty, access(Self.path, F_OK) != 0 { return }
        let folder = Self.folder
        if mkdir(folder, 0o777) == 0 { try? ResultFile.write(Array("*\n".utf8), to: "\(folder)/.gitignore") }
        try? ResultFile.write(Array("\(document.text(pretty: true))\n".utf8), to: Self.path)
    }
}
