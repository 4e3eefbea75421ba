import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct RegistrationTableTests {
    private func registration(
        _ number: Int, handle: Int? = nil, tags: [String] = [], expiration: Timestamp = .distantFuture
    ) throws -> Registration {
        Registration(
            id: try #require(RegistrationID("\(number)-1-1")), etag: 1, expiration: expiration, updatedAt: HubBench.startTime,
            description: RegistrationDescription(
                handle: .phone(handle ?? number), tags: try tags.map { try Tag($0) }, template: nil, pushVariables: [:]),
            installationID: nil)
    }

    private func later(_ seconds: Int64) -> Timestamp { HubBench.startTime + .seconds(seconds) }

    @Test("A changed registration is found only by its current tags") func change() throws {
        var table = RegistrationTable()
        let first = try registration(1, handle: 1, tags: ["a", "b"])
        table.put(first)
        table.put(try registration(1, handle: 2, tags: ["b", "c"]), replacing: first)
        #expect(table.select(.tag(try Tag("a"))).isEmpty)
        #expect(table.select(.tag(try Tag("c"))).count == 1)
        #expect(table.rows(for: .phone(1)).isEmpty)
        #expect(table.rows(for: .phone(2)).count == 1)
        #expect(table.count == 1)
    }

    @Test("A freed row is reused for the new registration") func reuse() throws {
        var table = RegistrationTable()
        let (first, second) = (try registration(1, tags: ["a"]), try registration(2, tags: ["b"]))
        table.put(first)
        table.remove(first, because: .deleted)
        table.put(second)
        #expect(table.row(of: first.id) == nil && table.tombstone(of: first.id)?.reason == .deleted)
        #expect(table.select(nil) == [0] && table.id(at: 0) == second.id)
        #expect(RowPager(table: table).page(.all, behind: nil, top: 10).found == [0])
    }

    @Test func `targets that were found are used again until a registration changes, and for the same audience only`() throws {
        var table = RegistrationTable()
        let (first, second) = (try registration(1, tags: ["a"]), try registration(2, tags: ["b"]))
        table.put(first)
        let request = try NotificationRequest.alert(to: "a")
        var targets: ResolvedTargets {
            ResolvedTargets(
                TargetFinder(table: table).targets(of: request.audience.expression, for: request.content), of: request,
                revision: table.revision)
        }
        var found = targets
        #expect(found.targets(of: request, table.revision)?.count == 1)
        let (other, template) = (try NotificationRequest.alert(to: "b"), try NotificationRequest.properties([:], to: "a"))
        #expect(!found.fits(other, table.revision) && !found.fits(template, table.revision))
        var planned = request
        planned.plan = PlanBinding("p-0001")
        #expect(!found.fits(planned, table.revision))
        table.put(second)
        #expect(!found.fits(request, table.revision))
        found = targets
        #expect(table.note(.success, at: 0) && found.fits(request, table.revision))
        table.remove(second, because: .deleted)
        #expect(!found.fits(request, table.revision))
    }

    @Test("A renewed row does not expire at its old time, however often it was renewed") func renewal() throws {
        var table = RegistrationTable()
        let first = try registration(1)
        table.put(first)
        for second in 1...1000 { table.put(try registration(1, expiration: later(Int64(second))), replacing: first) }
        table.put(try registration(2, expiration: later(5)))
        #expect(table.removeExpired(now: later(999)) == 1)
        #expect(table.count == 1)
        #expect(table.removeExpired(now: later(1000)) == 1)
        #expect(table.removeExpired(now: later(5000)) == 0)
    }

    @Test("An earlier expiry applies") func earlier() throws {
        var table = RegistrationTable()
        let first = try registration(1, expiration: later(100))
        table.put(first)
        for second in [10, 100, 20] { table.put(try registration(1, expiration: later(Int64(second))), replacing: first) }
        #expect(table.removeExpired(now: later(19)) == 0)
        #expect(table.removeExpired(now: later(20)) == 1)
    }

    @Test("Repeated changes of an expiry do not accumulate, and the last one applies") func toggling() throws {
        var table = RegistrationTable()
        let installation = Installation(id: "pad", handle: .phone(1))
        for turn in 0..<2000 { table.put(installation, expiration: later(turn.isMultiple(of: 2) ? 10 : 20)) }
        #expect(table.removeExpired(now: later(19)) == 0)
        #expect(table.installations.row(of: "pad") != nil)
        #expect(table.removeExpired(now: later(20)) == 0)
        #expect(table.installations.row(of: "pad") == nil)
    }
}

extension RegistrationTable {
    /// - Parameter old: The previous state of the registration.
    fileprivate mutating func put(_ registration: Registration, replacing old: Registration? = nil) {
        let change = RegistrationChange(puts: [placed(registration)])
        apply(change, replacing: ReplacedRows(old.map { [RegistrationRow(row: change.puts[0].row, registration: $0)] } ?? []))
    }

    fileprivate mutating func put(_ installation: Installation, expiration: Timestamp) {
        let change = change(
            installation, as: [], expiration: expiration, tombstone: RegistrationTombstone(.installationChanged, at: HubBench.startTime))
        apply(change, replacing: ReplacedRows([], change.installationPuts))
    }

    fileprivate mutating func remove(_ registration: Registration, because reason: RegistrationTombstone.Reason) {
        let tombstone = RegistrationTombstone(reason, at: HubBench.startTime)
        guard let removal = removal(of: registration.id, because: tombstone) else { return }
        apply(
            RegistrationChange(removals: [removal]),
            replacing: ReplacedRows([RegistrationRow(row: removal.row, registration: registration)]))
    }

    /// Returns the number of registrations removed.
    fileprivate mutating func removeExpired(now: Timestamp) -> Int {
        let change = ExpirySweep.withdraw(from: &self, now: now) { _ in false }
        apply(change, replacing: ReplacedRows())
        return change.removals.count
    }
}
