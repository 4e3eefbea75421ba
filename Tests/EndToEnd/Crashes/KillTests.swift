import Delivery
import Foundation
import HTTPTypes
import PushModel
import Synchronization
import Testing

/// `pushhost serve` under `kill -9`.
@Suite struct KillTests {
    private static let kills = 20
    /// The number of devices registered before the first kill; every notification goes to all of them.
    private static let crew = 3
    /// Those devices, and one that was registered later.
    private static let devicesOfNotification = crew + 1

    @Test func `answered requests survive every kill, and accepted notifications are delivered`() async throws {
        let random = SeededRandom(seed: 22)
        let bench = try await KillBench(lives: (0..<Self.kills).map { _ in 1 + Int(random.next() % 60) })
        do {
            try await attack(bench)
        } catch {
            // Ends the bench after a failure too: what is left would end the whole test process.
            Issue.record("\(error)")
            _ = try? await bench.end()
        }
    }

    private func attack(_ bench: KillBench) async throws {
        let clients = Clients(bench: bench)
        for number in 0..<Self.crew { try await clients.register(.crew(number)) }
        // Six clients send without pauses until the last kill.
        try await withThrowingTaskGroup { group in
            for client in 0..<6 {
                group.addTask {
                    var turn = 0
                    while bench.kills < Self.kills {
                        let name = "\(client)-\(turn)"
                        switch turn % 4 {
                        case 0: try await clients.register(.phone(name))
                        case 2: try await clients.install(.phone(name))
                        default: try await clients.send(name)
                        }
                        turn += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        // From now on the server stays up.
        for number in 0..<10 { try await clients.send("last-\(number)") }

        try await clients.expectAllStored()
        try await clients.expectAllEnded()
        let reached = try await bench.end()
        try expectDelivered(clients, reached)
        try expectSound(bench, clients)
    }

    private func expectDelivered(_ clients: Clients, _ reached: [String: [String]]) throws {
        var repetitions = 0
        #expect(Set(reached.keys) == Set(clients.sends.map(\.alert)))
        for send in clients.sends {
            let handles = reached[send.alert] ?? []
            #expect(Set(handles) == Set(send.devices.map(\.token)), "\(send.alert)")
            repetitions += handles.count - Set(handles).count
            if send.alert.hasPrefix("last-") { #expect(handles.count == send.devices.count) }
        }
        // Only pushes in progress at a kill can be repeated: at most this many notifications for each platform.
        let bound = Self.kills * KillBench.concurrentNotifications * Platform.delivered.count * Self.devicesOfNotification
        #expect(repetitions <= bound, "\(repetitions) of \(clients.sends.count) notifications")
    }

    private func expectSound(_ bench: KillBench, _ clients: Clients) throws {
        #expect(try bench.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try bench.rows("SELECT id FROM notification WHERE is_final = 0") == [])
        #expect(Set(try bench.rows("SELECT id FROM notification")) == Set(clients.sends.map(\.id)))
        #expect(try bench.rows("SELECT count(*) FROM notification") == ["\(clients.sends.count)"])
        // Nothing was deleted, so the rows are contiguous.
        for (table, count) in [("registration", clients.devices.count), ("installation", clients.installations.count)] {
            #expect(try bench.rows("SELECT count(*) FROM \(table)") == ["\(count)"])
            #expect(try bench.rows("SELECT max(place) + 1 FROM \(table)") == ["\(count)"])
        }
    }
}

/// Clients of a hub, and the responses that they received.
private final class Clients: Sendable {
    struct Send: Sendable {
        /// Also the idempotency key.
        let alert: String
        let id: String
        let devices: [Phone]
    }

    /// A device with a unique token and tag. It is an FCM device because APNs rejects the provider tokens of so many new servers.
    struct Phone: Sendable, Hashable {
        let tag: String
        let tags: [String]
        let token: String

        static func crew(_ number: Int) -> Phone { Phone("crew-\(number)", tags: ["crew"]) }
        static func phone(_ name: String) -> Phone { Phone("phone-\(name)", tags: []) }

        private init(_ tag: String, tags: [String]) {
            self.tag = tag
            self.tags = [tag] + tags
            token = String(repeating: "i", count: 22) + ":" + tag.padding(toLength: 140, withPad: "_", startingAt: 0)
        }
    }

    private struct Stored {
        var sends: [Send] = []
        var registrations: [(id: String, phone: Phone)] = []
        var installations: [Phone] = []
    }

    private let bench: KillBench
    private let stored = Mutex(Stored())

    init(bench: KillBench) { self.bench = bench }

    var sends: [Send] { stored.withLock { $0.sends } }
    var installations: [Phone] { stored.withLock { $0.installations } }
    var devices: [Phone] { stored.withLock { $0.registrations.map(\.phone) + $0.installations } }

    // MARK: - Requests

    func register(_ phone: Phone) async throws {
        let made = try await bench.ask(.post, "registrationids")
        #expect(made.status == .created)
        let id = try Self.name(made.headers[.location])
        let answer = try await bench.ask(
            .put, "registrations/\(id)", [("Content-Type", "application/atom+xml;type=entry;charset=utf-8")],
            """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><FcmV1RegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>\(phone.tags.joined(separator: ","))\
            </Tags><FcmV1RegistrationId>\(phone.token)</FcmV1RegistrationId></FcmV1RegistrationDescription></content></entry>
            """)
        #expect(answer.status == .ok)
        stored.withLock { $0.registrations.append((id, phone)) }
    }

    func install(_ phone: Phone) async throws {
        let document: JSON = [
            "installationId": .string(phone.tag), "platform": "fcmV1", "pushChannel": .string(phone.token),
            "tags": .array(phone.tags.map { .string($0) }),
        ]
        let answer = try await bench.ask(
            .put, "installations/\(phone.tag)", [("Content-Type", "application/json")], document.text())
        #expect(answer.status == .ok)
        stored.withLock { $0.installations.append(phone) }
    }

    /// Sends to the crew and to the device registered last.
    func send(_ alert: String) async throws {
        let others = devices
        let crew = others.filter { $0.tags.contains("crew") }
        let last = others.last { !crew.contains($0) }
        let tags = last.map { "crew || \($0.tag)" } ?? "crew"
        let answer = try await bench.ask(
            .post, "messages",
            [
                ("Content-Type", "application/json;charset=utf-8"), ("ServiceBusNotification-Format", "fcmV1"),
                ("ServiceBusNotification-Tags", tags), ("Idempotency-Key", alert),
            ], #"{"message":{"notification":{"body":"\#(alert)"}}}"#)
        #expect(answer.status == .created)
        let send = Send(alert: alert, id: try Self.name(answer.headers[.location]), devices: crew + (last.map { [$0] } ?? []))
        stored.withLock { $0.sends.append(send) }
    }

    /// The last segment of a URL.
    private static func name(_ address: String?) throws -> String {
        let path = try #require(address).prefix { $0 != "?" }
        return String(try #require(path.split(separator: "/").last))
    }

    // MARK: - Checks

    func expectAllStored() async throws {
        let (registrations, installations) = stored.withLock { ($0.registrations, $0.installations) }
        for (id, phone) in registrations {
            let answer = try await bench.ask(.get, "registrations/\(id)")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == .ok)
            #expect(text.contains(phone.token))
            #expect(text.contains("<Tags>\(phone.tags.joined(separator: ","))</Tags>"))
        }
        for phone in installations {
            let answer = try await bench.ask(.get, "installations/\(phone.tag)")
            #expect(answer.status == .ok)
            let document = try JSON(parsing: answer.body)
            #expect(document["pushChannel"]?.string == phone.token)
            #expect(document["tags"]?.array?.compactMap(\.string) == phone.tags)
        }
    }

    /// Polls until every notification has ended.
    func expectAllEnded() async throws {
        for send in sends {
            var state = ""
            repeat {
                let answer = try await bench.ask(.get, "messages/\(send.id)")
                try #require(answer.status == .ok)
                let text = String(decoding: answer.body, as: UTF8.self)
                let opened = try #require(text.firstRange(of: "<State>"))
                state = String(text[opened.upperBound...].prefix { $0 != "<" })
            } while ["Enqueued", "Processing"].contains(state)
            #expect(state == "Completed", "\(send.alert)")
        }
    }
}
