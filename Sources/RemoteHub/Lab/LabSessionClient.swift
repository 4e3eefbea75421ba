package import PushModel

/// A session in a server's lab for one run: its phones, wire, faults and time.
package final class LabSessionClient: Sendable {
    package let id: String
    /// The hub of the session, as the server spells it.
    package let hub: String
    /// The hub's connection string, with every right.
    package let connectionString: Secret
    package let clock: RemoteClock
    package let lab: RemoteLab
    package let wire: RemoteWire
    package let faults: RemoteFaults
    private let path: String
    private let connection: any LabConnection
    private let pulse: Task<Void, Never>

    /// Interval of keep-alive requests. The lab ends a session after two minutes without a request.
    private static let interval: Duration = .seconds(30)

    /// Opens a session. The lab's clock stands still until the session is closed.
    ///
    /// Until then a background task keeps the session alive, even if the run's thread computes for a long time.
    ///
    /// - Parameters:
    ///   - hub: nil: the only hub.
    ///   - run: The run's name for the server's log, such as `r-0001`.
    ///   - system: This machine's clock.
    ///   - trace: Receives what the lab's hubs do.
    ///   - start: Starts work on the run's thread, whose idle handler asks the clock for its steps.
    /// Throws the lab's errors, and `lab.answer`.
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
        let phoneEvents = RemotePhoneEvents(path: path, connection: connection)
        let place = path
        clock = RemoteClock(
            now: Timestamp(milliseconds: Int64(try fields.integer("now"))), path: path, connection: connection, traffic: InFlightRequests(),
            phoneEvents: phoneEvents, trace: trace.map { RemoteTrace(path: place, connection: connection, take: $0) }, start: start)
        lab = RemoteLab(path: path, connection: connection, clock: clock, phoneEvents: phoneEvents)
        wire = RemoteWire(path: path, connection: connection, clock: clock)
        faults = RemoteFaults(
            path: path, connection: connection, clock: clock,
            words: [.send: Self.words(try fields.object("reasons")), .token: Self.words(fields.value("tokenReasons")?.object)])
        pulse = Self.pulse(path, connection, system)
    }

    deinit { pulse.cancel() }

    /// Reasons by service; empty for an older lab that does not list them.
    private static func words(_ lists: JSONObject?) -> [Platform: [String]] {
        var words: [Platform: [String]] = [:]
        for (name, list) in lists?.members ?? [] {
            if let service = Platform(name: name) { words[service] = list.array?.compactMap(\.string) }
        }
        return words
    }

    /// Sends keep-alive requests, outside of the run's thread, which may be busy. They do not count as the run's traffic.
    private static func pulse(_ path: String, _ connection: any LabConnection, _ system: any HubClock) -> Task<Void, Never> {
        Task(executorPreference: globalConcurrentExecutor) {
            while (try? await system.sleep(until: system.now + interval)) != nil {
                do throws(PushError) {
                    _ = try await connection.call("GET", path, nil)
                } catch  where error.code == "lab.session" {
                    return
                } catch {
                    // The next request may succeed, and the run's own requests report the error.
                }
            }
        }
    }

    /// Creates an account in the server's backend unless the name exists. Returns whether it was created.
    package func ensureAccount(_ username: String, password: Secret) async throws(PushError) -> Bool {
        let body: JSON = ["username": .string(username), "password": .string(password.reveal())]
        let answer = try await clock.during { () async throws(PushError) in
            try await connection.call("POST", "\(path)/accounts", body)
        }
        return try LabFields(answer: answer).text("state") == "created"
    }

    /// Ends the session with its phones and their registrations. After an interruption of the run, call it too, from a task that is not
    /// cancelled.
    package func close() async throws(PushError) {
        pulse.cancel()
        do throws(PushError) {
            _ = try await connection.call("DELETE", path, nil)
        } catch  where error.code == "lab.session" {
            // The session has already ended.
        }
    }
}
