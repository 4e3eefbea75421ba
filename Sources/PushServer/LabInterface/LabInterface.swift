import Delivery
import HubWire
import PushHub
import PushLab
import PushModel
import RemoteHub
import Simulators
import WebAPI

/// Answers requests to the lab over HTTP: see docs/reference/lab.md.
struct LabInterface: Sendable {
    /// Creates an account of the app backend unless the name exists. Returns whether it was created.
    typealias EnsureAccount = @Sendable (_ username: String, _ password: Secret) async throws(PushError) -> Bool

    let sessions: LabSessions
    /// Nil if the server has no accounts.
    var ensureAccount: EnsureAccount?
    let polls = LabPolls()

    var lab: Lab { sessions.lab }

    /// The routes under `/lab/`.
    var routes: LabRoutes { LabRoutes(key: lab.key) { call throws(PushError) in try await answer(call) } }

    func answer(_ call: LabRoutes.Call) async throws(PushError) -> LabRoutes.Answer {
        guard let id = call.path.first else {
            try call.check("POST")
            return try begin(call)
        }
        if call.method == "DELETE", call.path.count == 1 {
            // Not counted as a request of the session, because it waits until all of those have been answered.
            let session = try await sessions.end(id)
            return LabRoutes.Answer(200, session.json(now: lab.clock.now))
        }
        let session = try sessions.session(id)
        guard session.requestBegan() else { throw LabSessions.missing }
        defer { session.requestEnded(now: sessions.system.now) }
        return try await answer(call, Array(call.path.dropFirst()), session)
    }

    private func answer(
        _ call: LabRoutes.Call, _ path: [String], _ session: LabSession
    ) async throws(PushError) -> LabRoutes.Answer {
        switch (path.first, path.count) {
        case (nil, _):
            try call.check("GET", "DELETE")
            return LabRoutes.Answer(200, session.json(now: lab.clock.now))
        case ("phones", _): return try await LabPhoneRoutes(lab: lab, session: session).answer(call, Array(path.dropFirst()))
        case ("events", 1): return try await events(call, session)
        case ("wire", 1): return try wire(call, session)
        case ("trace", 1): return try trace(call, session)
        case ("faults", 2): return try LabFaultRoutes(lab: lab, session: session).answer(call, path[1])
        case ("accounts", 1): return try await account(call)
        case ("clock", 1): return try await clock(call, session)
        default:
            throw PushError(
                "request.path", "unknown path of the lab",
                hint: "after a session's id, use phones, events, wire, trace, faults/SERVICE, accounts or clock", status: 404)
        }
    }

    // MARK: - Sessions

    private func begin(_ call: LabRoutes.Call) throws(PushError) -> LabRoutes.Answer {
        let fields = try LabFields(body: call.body, allowing: ["hub", "run"])
        let run = try fields.optionalText("run") ?? ""
        guard run.utf8.count <= 100, run.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) else {
            throw fields.wrong("run", "a short name in ASCII")
        }
        let (session, hub) = try sessions.begin(hub: try fields.optionalText("hub"), run: run)
        var json = session.json(now: lab.clock.now).object ?? JSONObject()
        json["connectionString"] = .string(connectionString(of: hub, call.base))
        var (reasons, tokenReasons) = (JSONObject(), JSONObject())
        for platform in PhonePlatform.allCases {
            let service = lab.simulators[platform]
            reasons[platform.rawValue] = .words(service.reasons)
            if service.grantFaults != nil { tokenReasons[platform.rawValue] = .words(service.grantReasons) }
        }
        json["reasons"] = .object(reasons)
        json["tokenReasons"] = .object(tokenReasons)
        return LabRoutes.Answer(201, .object(json))
    }

    /// A connection string with all rights, for the address that the client used.
    private func connectionString(of hub: ServedHub, _ base: String) -> String {
        let rules = hub.record.description.rules + sessions.namespace.rules
        let rule = rules.first { $0.rights.contains(.manage) }
        return ConnectionString(
            address: base, keyName: rule?.name ?? "", key: rule?.primaryKey ?? Secret(""), hub: hub.record.name
        ).reveal()
    }

    // MARK: - Events, exchanges and trace

    private func events(_ call: LabRoutes.Call, _ session: LabSession) async throws(PushError) -> LabRoutes.Answer {
        try call.check("GET")
        let since = try call.number("since") ?? 0
        if call.query.has("wait") { await polls.wait(for: session, after: since, clock: sessions.system) }
        let (events, count) = session.events(after: since)
        return LabRoutes.Answer(200, ["events": .array(events.map(\.json)), "count": .count(count)])
    }

    private func wire(_ call: LabRoutes.Call, _ session: LabSession) throws(PushError) -> LabRoutes.Answer {
        try call.check("GET")
        let service = try call.query["service"].map { word throws(PushError) in try Self.service(word) }
        let exchanges = sessions.wires.record.exchanges(with: service.map(Platform.init), after: session.firstExchange)
        return LabRoutes.Answer(200, ["exchanges": .array(exchanges.map(\.json))])
    }

    private func trace(_ call: LabRoutes.Call, _ session: LabSession) throws(PushError) -> LabRoutes.Answer {
        try call.check("GET")
        let (since, most) = (try call.number("since") ?? 0, Int.max - session.firstEntry)
        let (entries, count) = lab.trace.entries(after: session.firstEntry + min(since, most))
        return LabRoutes.Answer(200, ["entries": .array(entries.map(\.json)), "count": .count(count - session.firstEntry)])
    }

    static func service(_ word: String) throws(PushError) -> PhonePlatform {
        guard let service = Platform(name: word).flatMap(PhonePlatform.init) else {
            throw PushError(
                "simulator.path", "unknown push service \"\(word.prefix(40))\"",
                hint: nearest(word, in: Platform.spellings).map { "did you mean \"\($0)\"?" }
                    ?? "services are \(Platform.spellings.joined(separator: ", "))", status: 404)
        }
        return service
    }

    // MARK: - Accounts

    private func account(_ call: LabRoutes.Call) async throws(PushError) -> LabRoutes.Answer {
        try call.check("POST")
        let fields = try LabFields(body: call.body, allowing: ["username", "password"])
        let (name, password) = (try fields.text("username"), Secret(try fields.text("password")))
        guard let ensureAccount else {
            throw PushError(
                "target.unsupported", "this server has no accounts", hint: "run the flow on the embedded target", status: 501)
        }
        let isNew = try await ensureAccount(name, password)
        return LabRoutes.Answer(isNew ? 201 : 200, ["state": isNew ? "created" : "exists"])
    }

    // MARK: - The clock

    private func clock(_ call: LabRoutes.Call, _ session: LabSession) async throws(PushError) -> LabRoutes.Answer {
        try call.check("GET", "POST")
        var hasMoved = false
        if call.method == "POST" {
            let fields = try LabFields(body: call.body, allowing: ["until", "events"])
            let until = try fields.optionalInteger("until").map { Timestamp(milliseconds: Int64($0)) }
            // A time in the past does not move the clock, so any is accepted.
            if let until, until > max(LabClock.last, lab.clock.now) {
                throw fields.wrong("until", "a time before the year 9000, in milliseconds")
            }
            hasMoved = await step(until: until, seen: try fields.optionalInteger("events") ?? 0, session)
        }
        return LabRoutes.Answer(
            200, ["now": .timestamp(lab.clock.now), "events": .count(session.eventCount), "moved": .bool(hasMoved)])
    }

    /// Waits until the lab is idle, then advances to `time` or to the next deadline, whichever is earlier, and waits again. Does not
    /// advance if the client has not seen all events. Returns whether the clock advanced.
    private func step(until time: Timestamp?, seen: Int, _ session: LabSession) async -> Bool {
        await lab.thread.settle()
        guard session.eventCount <= seen, let next = [time, lab.clock.nextDeadline].compactMap({ $0 }).min(),
            next > lab.clock.now, next <= LabClock.last
        else { return false }
        lab.clock.advance(to: next)
        await lab.thread.settle()
        return true
    }
}

extension LabSession {
    fileprivate func json(now: Timestamp) -> JSON {
        ["id": .string(id), "hub": .string(hub), "run": .string(run), "now": .timestamp(now), "events": .count(eventCount)]
    }
}

extension LabRoutes.Call {
    /// Throws `request.method` (405) if the request's method is not one of these.
    func check(_ methods: String...) throws(PushError) {
        guard !methods.contains(method) else { return }
        let list = methods.joined(separator: ", ")
        throw PushError(
            "request.method", "the method \(method) is not supported here", hint: "use \(list)", status: 405,
            details: ["allow": .string(list)])
    }

    /// A query parameter that must be a number from 0 on; nil if it is absent.
    func number(_ name: String) throws(PushError) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw PushError(
                "request.parameter", "invalid value \"\(text.prefix(40))\" of the parameter \(name)", hint: "send a number from 0 on",
                status: 400)
        }
        return number
    }
}

extension JSON {
    static func words(_ words: [String]) -> JSON { .array(words.map { .string($0) }) }
}
