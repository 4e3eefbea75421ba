import PushModel
import Support
import Synchronization
import Testing

@testable import PushHost

/// Batches of an import, against a scripted server.
@Suite struct DeviceImporterTests {
    /// A server that rejects the ids in `refused` and notes all requests.
    private final class Server: Sendable {
        private struct State {
            var requests: [[String]] = []
            var isDryRun = false
            var active: [String] = []
            var overlaps = 0
            var errors: [PushError] = []
            var pauses: [Duration] = []
        }

        private let refused: Set<String>
        private let state: Mutex<State>

        init(refusing refused: Set<String> = [], failing errors: [PushError] = []) {
            self.refused = refused
            state = Mutex(State(errors: errors))
        }

        /// The ids of each request, in order of arrival.
        var requests: [[String]] { state.withLock { $0.requests } }
        var isDryRun: Bool { state.withLock { $0.isDryRun } }
        /// How often a device was sent while a request with the same one was under way.
        var overlaps: Int { state.withLock { $0.overlaps } }
        var pauses: [Duration] { state.withLock { $0.pauses } }

        func importer(isDryRun: Bool = false, isStrict: Bool = false) -> DeviceImporter {
            DeviceImporter(
                parser: DeviceLineParser(format: .ndjson), isDryRun: isDryRun, isStrict: isStrict,
                post: { [self] body throws(PushError) in try await answer(body) },
                pause: { [self] duration in state.withLock { $0.pauses.append(duration) } })
        }

        private func answer(_ body: [UInt8]) async throws(PushError) -> JSON {
            let json = (try? JSON(parsing: body)) ?? .null
            let ids = (json["devices"]?.array ?? []).compactMap { $0["installation"]?["installationId"]?.string }
            let sent = Set(ids)
            let error = state.withLock { state in
                state.requests.append(ids)
                state.isDryRun = json["dryRun"]?.bool == true
                state.overlaps += state.active.count { sent.contains($0) }
                state.active += ids
                return state.errors.isEmpty ? nil : state.errors.removeFirst()
            }
            for _ in 1...5 { await Task.yield() }
            state.withLock { state in state.active.removeAll { sent.contains($0) } }
            if let error { throw error }
            let rejected = ids.enumerated().filter { refused.contains($0.element) }.map { position, _ in
                ["position": .integer(Int64(position)), "code": "handle.invalid", "message": "no handle", "hint": "send one"] as JSON
            }
            return ["stored": .integer(Int64(ids.count - rejected.count)), "rejected": .array(rejected)]
        }
    }

    private static func line(_ id: String) -> String { #"{"installationId":"\#(id)","platform":"apns","pushChannel":"x"}"# }

    private func run(
        _ importer: DeviceImporter, _ lines: [String], after start: Int = 0
    ) async -> (summary: DeviceImporter.Summary, error: PushError?, rejected: [DeviceImporter.Rejection], seen: [Int]) {
        var rest = lines[...]
        var rejected: [DeviceImporter.Rejection] = []
        var seen: [Int] = []
        let (summary, error) = await importer.run(
            after: start, next: { rest.popFirst().map { Array($0.utf8) } }, reject: { rejected.append($0) },
            progress: { seen.append($0.lastLine) })
        return (summary, error, rejected, seen)
    }

    @Test func `lines are sent in batches of a thousand, and rejected ones are reported in order`() async {
        var lines = (1...2500).map { Self.line("d\($0)") }
        lines[4] = "nonsense"
        lines[10] = ""
        let server = Server(refusing: ["d3", "d2500", "d1200"])
        let run = await run(server.importer(), lines, after: 1)
        #expect(run.error == nil && run.summary == DeviceImporter.Summary(stored: 2495, rejected: 4, lastLine: 2501))
        #expect(run.rejected.map(\.line) == [4, 6, 1201, 2501])
        #expect(run.rejected[0] == DeviceImporter.Rejection(line: 4, code: "handle.invalid", reason: "no handle; send one"))
        #expect(run.rejected[1].code == "usage.value" && run.seen == [1003, 2003, 2501])
        #expect(server.requests.map(\.count).sorted() == [498, 1000, 1000] && !server.isDryRun)
    }

    @Test func `large devices are sent in smaller batches, and one that is too large is rejected`() async {
        func large(_ id: String, _ size: Int) -> String {
            #"{"installationId":"\#(id)","userId":"\#(String(repeating: "u", count: size))"}"#
        }
        let server = Server()
        let run = await run(server.importer(), [large("a", 200_000), large("b", 100_000), large("c", 250_000), large("d", 1)])
        #expect(server.requests.map(Set.init).sorted { $0.count < $1.count }.map(\.count) == [1, 1, 1])
        #expect(run.summary.stored == 3 && run.rejected.map(\.line) == [3])
    }

    @Test func `a device is not sent while another line of it is under way`() async {
        let server = Server()
        let lines = (1...1000).map { Self.line("d\($0)") } + [Self.line("D1")] + (1...3000).map { Self.line("e\($0)") }
        let run = await run(server.importer(), lines.map { $0.replacing("D1", with: "d1") })
        #expect(run.summary.stored == 4001 && server.overlaps == 0)
    }

    @Test func `a busy server is asked again, and the pauses grow`() async {
        let busy = PushError("storage.unavailable", "the disk is full", status: 503)
        let server = Server(failing: [busy, busy])
        let run = await run(server.importer(), [Self.line("a")])
        #expect(run.error == nil && run.summary.stored == 1 && server.requests == [["a"], ["a"], ["a"]])
        #expect(server.pauses == [.milliseconds(500), .milliseconds(1000)])
    }

    @Test func `an error ends the import with the lines that are done`() async {
        let refused = PushError("sas.forbidden", "key \"app\" lacks the right Manage", status: 401)
        let server = Server(failing: [refused])
        let run = await run(server.importer(), [Self.line("a")], after: 7)
        #expect(run.error == refused && run.summary == DeviceImporter.Summary(lastLine: 7) && server.pauses.isEmpty)
        let gone = PushError("control.unreachable", "no server is running")
        #expect(await self.run(Server(failing: [gone]).importer(), [Self.line("a")]).error == gone)
    }

    @Test func `a strict import stops after the batch with a rejected line`() async {
        let server = Server()
        let lines = ["nonsense"] + (1...9000).map { Self.line("d\($0)") }
        let run = await run(server.importer(isStrict: true), lines)
        #expect(run.error == nil && run.rejected.map(\.line) == [1] && run.summary.lastLine < lines.count)
        #expect(await self.run(Server().importer(isDryRun: true), [Self.line("a")]).summary.stored == 1)
    }

    @Test func `a dry run is one on the server`() async {
        let server = Server()
        #expect(await run(server.importer(isDryRun: true), [Self.line("a")]).summary.stored == 1 && server.isDryRun)
    }

    @Test func `a rejected line is written as CSV`() {
        let rejection = DeviceImporter.Rejection(line: 3, code: "tag.invalid", reason: "invalid tag \"a b\"")
        #expect(rejection.csv == #"3,tag.invalid,"invalid tag ""a b""""#)
    }

    @Test func `an interrupted import says where to continue`() {
        let work = DeviceImportWork(
            file: "a.csv", rejects: "r.csv", fromLine: 1, isStrict: false, isDryRun: false, parser: DeviceLineParser(format: .csv))
        let error = work.describing(
            PushError("cancelled", "the import was interrupted"), DeviceImporter.Summary(stored: 41, rejected: 0, lastLine: 42))
        #expect(error.message == "the import was interrupted; 41 devices were imported, up to line 42")
        #expect(error.hint == "continue with --from-line 43")
        let progress = DeviceImportWork.progress(
            DeviceImporter.Summary(stored: 40_000, rejected: 2, lastLine: 40_003), seconds: 2, part: 0.5)
        #expect(progress == "40000 devices · 20001/s · 2 rejected · 50 % read")
    }
}
