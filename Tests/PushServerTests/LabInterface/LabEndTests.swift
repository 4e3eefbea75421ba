import Bindings
import Foundation
import GRDBSQLite
import Logging
import PushHub
import PushModel
import PushRuntime
import RemoteHub
import Support
import Synchronization
import Testing

@testable import PushLab
@testable import PushServer
@testable import WebAPI

/// Sessions of a lab whose end fails or competes with requests.
@Suite struct LabEndTests {
    private static let fault = "CREATE TRIGGER full BEFORE DELETE ON registration BEGIN SELECT RAISE(ABORT, 'full'); END"
    private static let mend = "DROP TRIGGER full"

    /// Changes a server's database while the server runs.
    private static func execute(_ sql: String, in folder: ScriptFolder) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let path = folder.url.appending(path: "data/pushhost.sqlite").path
        try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        sqlite3_busy_timeout(database, 300_000)
        try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }

    private static func sessions(_ bench: LabBench, _ system: VirtualClock) throws -> LabSessions {
        let wires = try #require(bench.server.labSessions?.wires)
        return LabSessions(lab: bench.lab, namespace: bench.namespace, wires: wires, log: bench.log, system: system)
    }

    /// Begins a session with a registered phone.
    private static func begin(_ sessions: LabSessions, _ bench: LabBench) async throws -> LabSession {
        let (session, _) = try sessions.begin(hub: "hub", run: "a")
        let phone = try await session.phones.addDevice(DeviceDescription(name: "ana", platform: .wns))
        let handle = try await session.phones.handle(of: phone)
        #expect(session.note(handle))
        await bench.lab.ledger.note(handle, of: session.id)
        _ = try await bench.hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
        return session
    }

    @Test func `a failed removal is retried at every upkeep until it succeeds`() async throws {
        try await LabBench.with { bench in
            let system = VirtualClock(now: EmbeddedWorld.startTime)
            let sessions = try Self.sessions(bench, system)
            let session = try await Self.begin(sessions, bench)
            let file = bench.folder.url.appending(path: "data/lab/sessions.jsonl").path
            try Self.execute(Self.fault, in: bench.folder)
            await #expect(throws: PushError.self) { try await sessions.end(session) }
            for _ in 0..<3 {
                system.advance(to: system.now + .seconds(30))
                await sessions.removeLateRegistrations()
                #expect(try await bench.hub.size().registrations == 1)
            }
            #expect(try LabLedger(path: file).leftovers.count == 1)
            try Self.execute(Self.mend, in: bench.folder)
            await sessions.removeLateRegistrations()
            #expect(try await bench.hub.size().registrations == 0)
            #expect(try LabLedger(path: file).leftovers.isEmpty)
            let gone = await #expect(throws: PushError.self) { try await sessions.end(session.id) }
            #expect(gone?.status == 404)
        }
    }

    @Test func `deleting an ended session again reports the error until everything is removed`() async throws {
        try await LabBench.with { bench in
            let path = try await bench.session()
            let made = try await bench.call("POST", "\(path)/phones", #"{"name":"ana","platform":"wns"}"#)
            let place = "\(path)/phones/\(try #require(made.json["id"]?.int))/handle"
            let handle = try DeviceHandle(try LabFields(answer: try await bench.call("GET", place).json))
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
            try Self.execute(Self.fault, in: bench.folder)
            for _ in 0..<2 {
                let failed = try await bench.call("DELETE", path)
                #expect(failed.status >= 500 && failed.json["code"]?.string?.hasPrefix("storage.") == true, "\(failed)")
                #expect(try await bench.call("GET", path).status == 404)
            }
            #expect(try await bench.hub.size().registrations == 1)
            try Self.execute(Self.mend, in: bench.folder)
            #expect(try await bench.call("DELETE", path).status == 200)
            #expect(try await bench.hub.size().registrations == 0)
            #expect(try await bench.call("DELETE", path).json["code"]?.string == "lab.session")
        }
    }

    @Test func `a session that receives a request while silent ones are ended continues`() async throws {
        try await LabBench.with { bench in
            let system = VirtualClock(now: EmbeddedWorld.startTime)
            let sessions = try Self.sessions(bench, system)
            let (session, _) = try sessions.begin(hub: "hub", run: "a")
            // The limit that the upkeep read before the request came.
            let limit = system.now
            system.advance(to: system.now + LabSessions.timeout)
            #expect(session.requestBegan())
            try await sessions.end(session, silentSince: limit)
            #expect(!session.isOver)
            session.requestEnded(now: system.now)
            try await sessions.end(session, silentSince: limit)
            #expect(try sessions.session(session.id) === session)
            system.advance(to: system.now + LabSessions.timeout)
            await sessions.endSilent()
            #expect(session.isOver)
        }
    }

    @Test func `a request for events beyond the last returns their count`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let made = try await bench.call("POST", "\(session)/phones", #"{"name":"ana"}"#)
            let actions = "\(session)/phones/\(try #require(made.json["id"]?.int))/actions"
            _ = try await bench.call("POST", actions, #"{"action":"show","body":"Hello"}"#)
            let all = try await bench.call("GET", "\(session)/events?since=0").json
            let beyond = try await bench.call("GET", "\(session)/events?since=99").json
            #expect(try #require(all["count"]?.int) > 0 && all["count"]?.int == beyond["count"]?.int)
            #expect(beyond["events"]?.array?.isEmpty == true)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a request that waits for events is answered at once when the server begins to stop`() async throws {
        try await LabBench.with { bench in
            // In this clock the limit of a waiting request never passes.
            let system = VirtualClock(now: EmbeddedWorld.startTime)
            let lab = LabInterface(sessions: try Self.sessions(bench, system))
            let (session, _) = try lab.sessions.begin(hub: "hub", run: "a")
            @Sendable func poll() async throws(PushError) -> LabRoutes.Answer {
                try await lab.answer(
                    LabRoutes.Call(
                        method: "GET", path: [session.id, "events"], query: RequestQuery(parsing: "since=0&wait=1"), body: nil, base: ""))
            }
            async let waiting = poll()
            try await until { lab.polls.count == 1 }
            lab.polls.end()
            let answer = try await waiting
            #expect(answer.status == 200 && answer.json == ["events": [], "count": 0])
            // A server that stops does not let further ones wait.
            #expect(try await poll().json == answer.json)
            try await lab.sessions.end(session)
            #expect(lab.polls.count == 0)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a server that begins to stop answers a client's waiting request`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            async let waiting = bench.call("GET", "\(session)/events?since=0&wait=1")
            try await until { bench.server.labPolls?.count == 1 }
            await bench.server.beginStop()
            #expect(bench.server.labPolls?.count == 0)
            #expect(try await waiting.json["count"]?.int == 0)
        }
    }

    @Test func `a hub name must not start with the paths of the lab`() async throws {
        try await LabBench.with { bench in
            for name in ["lab/sessions", "Lab/Sessions", "lab/SESSIONS/a"] {
                let error = await #expect(throws: PushError.self) { _ = try await bench.namespace.create(name, HubDescription()) }
                #expect(error?.code == "hub.name")
            }
            for name in ["lab", "lab/sessions2", "lab2/sessions"] { _ = try await bench.namespace.create(name, HubDescription()) }
        }
    }

    @Test func `leftovers of a lab are removed and logged when the server starts without a lab`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "data/lab/sessions.jsonl")
        let (before, _) = try await LabSessionTests.serve(in: folder, file)
        // The ledger as it was while the session was open.
        try before.write(to: file)
        var settings = ServerSettings()
        settings.data = folder.url.appending(path: "data").path
        let style = LogStyle(settings)
        func start() async throws -> (registrations: Int, log: String) {
            let lines = LockedLines()
            let log = Logger(label: "test") { _ in ServerLog(style: style, clock: SystemClock(), write: lines.append) }
            let server = try await RunningServer.opening(
                settings, HostProgram(), folder: try DataFolder(path: settings.data), log: log, metrics: PrometheusRegistry())
            let size = await server.namespace.hub("hub")?.service.size().registrations
            await server.stop()
            return (try #require(size), lines.text)
        }
        try Self.execute(Self.fault, in: folder)
        let failed = try await start()
        #expect(failed.registrations == 1 && failed.log.contains("registrations of earlier lab sessions could not be removed"))
        try Self.execute(Self.mend, in: folder)
        let removed = try await start()
        #expect(
            removed.registrations == 0
                && removed.log.contains("removed 1 registration of lab sessions that were open when the server ended"),
            "\(removed.log)")
        #expect(try await !start().log.contains("of lab sessions that were open"))
        // Handles without registrations are not reported.
        try before.write(to: file)
        #expect(try await !start().log.contains("of lab sessions that were open"))
    }

    @Test func `a lab starts even if its ledger cannot be rewritten and leftovers cannot be removed`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "data/lab/sessions.jsonl")
        let (before, _) = try await LabSessionTests.serve(in: folder, file)
        try before.write(to: file)
        // A full disk prevents both. Here a folder blocks the name of the new ledger's file.
        let draft = URL(filePath: "\(file.path).\(getpid()).part")
        try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
        try Self.execute(Self.fault, in: folder)
        func start(_ work: (LabBench) async throws -> Void) async throws {
            let bench = try await LabBench(in: folder)
            do {
                try await work(bench)
            } catch {
                await bench.end()
                throw error
            }
            await bench.end()
        }
        try await start { bench in
            #expect(try await bench.hub.size().registrations == 1)
            #expect(try Data(contentsOf: file) == before)
            // The lab continues with the existing ledger.
            _ = try await bench.session()
        }
        try Self.execute(Self.mend, in: folder)
        try await start { bench in
            let size = try await bench.hub.size()
            #expect(size.registrations == 0)
        }
        #expect(try !LabLedger(path: file.path).leftovers.isEmpty)
        try FileManager.default.removeItem(at: draft)
        try await start { bench in
            let size = try await bench.hub.size()
            let ledger = try LabLedger(path: file.path)
            #expect(size.registrations == 0 && ledger.leftovers.isEmpty)
        }
    }

    @Test func `a lab that stops leaves nothing for the next start to remove`() async throws {
        try await LabBench.with { bench in
            let file = bench.folder.url.appending(path: "data/lab/sessions.jsonl")
            let sessions = try Self.sessions(bench, VirtualClock(now: EmbeddedWorld.startTime))
            let (over, open) = (try await Self.begin(sessions, bench), try await Self.begin(sessions, bench))
            try await sessions.end(over)
            #expect(try LabLedger(path: file.path).leftovers.count == 2)
            await sessions.endAll()
            #expect(open.isOver)
            #expect(try await bench.hub.size().registrations == 0)
            #expect(try LabLedger(path: file.path).leftovers.isEmpty)
        }
    }
}

private final class LockedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    @Sendable func append(_ line: String) { lines.withLock { $0.append(line) } }
}
