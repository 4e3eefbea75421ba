import PushCore

/// A session in the lab of a server, for one run: its phones, its wire, its faults, its time.
package final class LabSessionClient: Sendable {
    package let id: String
    /// The hub that the session is for, as the server spells it.
    package let hub: String
    /// For the hub, with every right.
    package let connectionString: Secret
    package let clock: RemoteClock
    package let lab: RemoteLab
    package let wire: RemoteWire
    package let faults: RemoteFaults
    private let path: String
    private let connection: any LabConnection
    private let pulse: Task<Void, Never>

    /// The lab gives a session up after two minutes of silence.
    private static let interval: Duration = .seconds(30)

    /// Opens a session; the lab's clock stands still until it is closed.
    ///
    /// Until then the lab hears of it every now and then, however long the thread of the run computes between two requests.
    ///
    /// - Parameters:
    ///   - hub: nil for the only one.
    ///   - run: for the log of the server, such as `r-0001`.
    ///   - system: of this machine.
    ///   - trace: is told what the lab's hubs do, where somebody wants to know.
    ///   - start: starts work on the thread of the run, whose idle handler asks the clock for its steps.
    /// Throws what the lab says, and `lab.answer`.
    package static func open(
        _ connection: any LabConnection, hub: String?, run: String, system: any HubClock,
        trace: (@Sendable (LabTraceEntry) -> Void)? = nil,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) async throws(PushError) -> LabSessionClient {
        let answer = try await connection.call("POST", "/lab/sessions", .lab(["hub": hub.map { .string($0) }, "run": .string(run)]))
        return try LabSessionClient(try LabFields(answer: answer), connection, system, trace, start)
    }

    private init(
        _ fields: LabFields, _ connection: any LabConnection, _ system: any HubClock,
        _ trace: (@Sendable (LabTraceEntry) -> Void)?,
        _ start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) throws(PushError) {
        (id, hub) = (try fields.text("id"), try fields.text("hub"))
        connectionString = Secret(try fields.text("connectionString"))
        path = "/lab/sessions/\(id)"
        self.connection = connection
        let news = PhoneNews(path: path, connection: connection)
        let place = path
        clock = RemoteClock(
            now: Timestamp(milliseconds: Int64(try fields.integer("now"))), path: path, connection: connection, traffic: RunTraffic(),
            news: news, trace: trace.map { RemoteTrace(path: place, connection: connection, take: $0) }, start: start)
        lab = RemoteLab(path: path, connection: connection, clock: clock, news: news)
        wire = RemoteWire(path: path, connection: connection, clock: clock)
        faults = RemoteFaults(
            path: path, connection: connection, clock: clock,
            words: [.send: Self.words(try fields.object("reasons")), .token: Self.words(fields.value("tokenReasons")?.object)])
        pulse = Self.pulse(path, connection, system)
    }

    deinit { pulse.cancel() }

    /// By service; none of a lab that does not tell them yet.
    private static func words(_ lists: JSONObject?) -> [Platform: [String]] {
        var words: [Platform: [String]] = [:]
        for (name, list) in lists?.members ?? [] {
            if let service = Platform(name: name) { words[service] = list.array?.compactMap(\.string) }
        }
        return words
    }

    /// Not on the thread of the run, which may have no time for it; and no traffic of the run, which goes on without it.
    private static func pulse(_ path: String, _ connection: any LabConnection, _ system: any HubClock) -> Task<Void, Never> {
        Task(executorPreference: globalConcurrentExecutor) {
            while (try? await system.sleep(until: system.now + interval)) != nil {
                do throws(PushError) {
                    _ = try await connection.call("GET", path, nil)
                } catch  where error.code == "lab.session" {
                    return
                } catch {
                    // The next one may work, and the run's own requests tell what is wrong.
                }
            }
        }
    }

    /// Makes an account of the server's backend, unless there is one of that name. Answers whether it was made.
    package func ensureAccount(_ username: String, password: Secret) async throws(PushError) -> Bool {
        let body: JSON = ["username": .string(username), "password": .string(password.reveal())]
        let answer = try await clock.during { () async throws(PushError) in
            try await connection.call("POST", "\(path)/accounts", body)
        }
        return try LabFields(answer: answer).text("state") == "created"
    }

    /// Ends the session with its phones and everything that is registered for them; also to be called when the run was
    /// interrupted, by a task that is not cancelled.
    package func close() async throws(PushError) {
        pulse.cancel()
        do throws(PushError) {
            _ = try await connection.call("DELETE", path, nil)
        } catch  where error.code == "lab.session" {
            // It has ended already.
        }
    }
}
