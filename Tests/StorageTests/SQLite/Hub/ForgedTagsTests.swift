import PushHub
import PushModel
import Storage
import Support
import Testing

/// Reserved tags in database rows that the hub did not write.
@Suite struct ForgedTagsTests {
    @Test func `a row with forged tags of another user or installation does not receive their notifications`() async throws {
        let bench = try await Bench()
        let clock = VirtualClock(now: HubBench.startTime)
        let environment = HubEnvironment(clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } })
        func opened() async throws -> NotificationHub {
            NotificationHub(
                environment: environment, connectors: [ScriptedConnector(clock: clock)], store: bench.store,
                loaded: try await bench.store.load(into: HubLoader()))
        }
        let first = try await opened()
        try await first.putInstallation(Installation(id: "victim", userID: "bob", handle: .phone(9)))
        try await first.putInstallation(Installation(id: "pad", handle: .phone(1), templates: ["t": InstallationTemplate(body: "{}")]))
        _ = try await first.createRegistration(RegistrationDescription(handle: .phone(2), tags: [try Tag("a")]))
        await first.stop()
        try await bench.execute(
            "UPDATE registration SET tags = '$InstallationId:{victim},$UserId:{bob}' || iif(tags = '', '', ',') || tags "
                + "WHERE installation IS NOT 'victim'")
        #expect(try await bench.integer("SELECT count(*) FROM registration WHERE tags LIKE '%{bob}%'") == 4)

        let hub = try await opened()
        func reached(_ text: String) async throws -> [DeviceHandle] {
            try await hub.send(.alert(to: text)).devices.map(\.handle)
        }
        for text in ["$InstallationId:{victim}", "$UserId:{bob}"] { #expect(try await reached(text) == [.phone(9)]) }
        #expect(try await reached("$InstallationId:{pad}") == [.phone(1)])
        #expect(try await reached("a") == [.phone(2)])
        // The next write corrects the rows.
        try await hub.patchInstallation("pad", [.init(.add, "/tags", "b")])
        #expect(
            try await bench.integer("SELECT count(*) FROM registration WHERE installation = 'pad' AND tags LIKE '%{bob}%'") == 0)
        #expect(try await reached("b") == [.phone(1)])
        #expect(try await reached("$UserId:{bob}") == [.phone(9)])
        await hub.stop()
    }
}
