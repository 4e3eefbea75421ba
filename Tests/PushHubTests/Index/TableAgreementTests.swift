import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Compares the table of columns with whole rows, over random changes and during runs.
@Suite struct TableAgreementTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `After any changes the table agrees with whole rows`(seed: UInt64) async throws {
        var walk = try TableWalk(seed: seed)
        for step in 0..<600 {
            await Task.yield()
            walk.change()
            if step.isMultiple(of: 20) { try walk.compare() }
        }
        try walk.compare()
        try walk.compareReloaded()
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `A run finds in its rows the registrations it started with, or that they were removed`(seed: UInt64) async throws {
        var walk = try TableWalk(seed: seed)
        for _ in 0..<200 { walk.change() }
        for _ in 0..<20 {
            await Task.yield()
            walk.begin()
            for _ in 0..<30 { walk.change() }
            walk.compareRuns()
            if walk.runCount > 3 { walk.endRun() }
        }
        while walk.runCount > 0 { walk.endRun() }
        // Every row is in use or free: as many new registrations use no row after the last one.
        try walk.fillUp()
    }
}

/// Random changes of a table, of whole rows and of the contents of a store.
private struct TableWalk {
    private struct Run {
        let token: RegistrationTable.Run
        let targets: Targets
        let meant: [UInt32: RegistrationID]
    }

    private let random: SeededRandom
    private var table = RegistrationTable()
    private var naive = NaiveTable()
    private var store: [UInt32: Registration] = [:]
    private var now = HubBench.startTime
    private var runs: [Run] = []
    private let templates: [RegistrationTemplate?]
    private let tags: [PushModel.Tag]
    /// Removals of expired rows that the store has not received.
    private var owed = RegistrationChange()

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        let bodies = [#"{"aps":{"alert":"$(a)"}}"#, #"{"aps":{"alert":"$(b)"}}"#]
        templates =
            [nil, nil, try RegistrationTemplate(name: "x", body: bodies[0], platform: .apns)]
            + (try bodies.map { try RegistrationTemplate(body: $0, platform: .apns) })
        tags = try (0..<8).map { try PushModel.Tag("t\($0)") }
    }

    var runCount: Int { runs.count }

    private func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    private func handle() -> DeviceHandle {
        let number = number(below: 40)
        switch number % 5 {
        case 0: return .fcmV1(token: String(repeating: "f", count: 30 + number) + "\(number)")
        case 1: return .browser(endpoint: "https://push.example/\(number)", p256dh: "p\(number)", auth: "a")
        case 2: return .apns(token: "abc\(number)")
        default: return .phone(number)
        }
    }

    private func id() -> RegistrationID {
        let number = number(below: 120)
        let text = number % 10 == 0 ? "0\(number)-5-77" : "\(number)-5-\(number % 3)"
        return RegistrationID(text) ?? RegistrationID(random: random)
    }

    private func registration(_ id: RegistrationID) -> Registration {
        let handle = handle()
        let template = handle.platform == .apns ? templates[number(below: templates.count)] : nil
        return Registration(
            id: id, etag: 1, expiration: number(below: 3) == 0 ? now + .milliseconds(1 + number(below: 2_000_000)) : .distantFuture,
            updatedAt: now,
            description: RegistrationDescription(
                handle: handle, tags: tags.filter { _ in number(below: 3) == 0 }, template: template,
                pushVariables: number(below: 4) == 0 ? ["A": "\(number(below: 2))", "z": "\(number(below: 2))"] : [:]))
    }

    mutating func change() {
        switch number(below: 10) {
        case 0..<6:
            let registration = registration(id())
            let change = RegistrationChange(puts: [table.placed(registration)])
            if number(below: 10) == 0 { return table.abandon(change) }
            apply(change)
            naive.put(registration)
        case 6, 7:
            let id = id()
            guard let removal = table.removal(of: id, because: RegistrationTombstone(.deleted, at: now)) else { return }
            apply(RegistrationChange(removals: [removal]))
            naive.remove(id)
        case 8:
            now = now + .milliseconds(number(below: 300_000))
            let expired = ExpirySweep.withdraw(from: &table, now: now) { _ in false }
            naive.expire(now: now)
            owed.removals += expired.removals
        default:
            let told = owed
            owed = RegistrationChange()
            apply(told)
        }
    }

    private mutating func apply(_ change: RegistrationChange) {
        let rowNumbers = change.removals.map(\.row) + change.puts.map(\.row)
        let rows = rowNumbers.compactMap { rowNumber in store[rowNumber].map { RegistrationRow(row: rowNumber, registration: $0) } }
        for removal in change.removals { store[removal.row] = nil }
        for put in change.puts {
            // A row that is assigned was free before.
            #expect(store[put.row] == nil || store[put.row]?.id == put.registration.id)
            store[put.row] = put.registration
        }
        table.apply(change, replacing: ReplacedRows(rows))
    }

    private func expressions() -> [TagExpression?] {
        func term() -> TagExpression { .tag(tags[number(below: tags.count)]) }
        return [nil, term(), .not(term()), .and([term(), .not(term())]), .or([term(), .and([term(), term()])])]
    }

    private var contents: [NotificationContent] {
        let payload = NativePayload(body: Array("{}".utf8))
        return [.native([.apns: payload, .fcmV1: payload]), .template(["a": "1"])]
    }

    func compare() throws { try compare(table) }

    /// Compares a table loaded from the store, without expired rows that are not deleted yet.
    func compareReloaded() throws {
        var loader = HubLoader()
        let expired = Set(owed.removals.map(\.row))
        let rows = store.filter { !expired.contains($0.key) }.sorted { $0.key < $1.key }
        StoredHub(registrations: rows.map { RegistrationRow(row: $0.key, registration: $0.value) }).read(into: &loader)
        #expect(loader.unreadable.isEmpty)
        try compare(loader.table)
    }

    private func compare(_ table: RegistrationTable) throws {
        #expect(table.count == naive.rows.count)
        for (id, row) in naive.rows {
            let rowNumber = try #require(table.row(of: id))
            #expect(table.id(at: rowNumber) == id && table.columns.handle(at: rowNumber) == row.handle)
            #expect(table.templates[table.columns.templates[rowNumber]] == row.template)
            #expect(table.columns.variables(at: rowNumber) == row.pushVariables)
            #expect(Set(table.rows(for: row.handle).map { table.id(at: $0) }) == naive.ids(for: row.handle))
        }
        #expect(naive.deleted.allSatisfy { table.row(of: $0) == nil })
        for expression in expressions() {
            let rowNumbers = table.select(expression)
            #expect(rowNumbers == rowNumbers.sorted() && Set(rowNumbers.map { table.id(at: $0) }) == naive.ids(expression))
            for content in contents {
                let (targets, expected) = (
                    TargetFinder(table: table).targets(of: expression, for: content), naive.groups(of: expression, for: content)
                )
                #expect(targets.matched == rowNumbers.count && targets.duplicates.count == expected.duplicates)
                let groups = targets.groups.map { group in
                    let recipients = table.recipients(at: group.members, of: RecipientGroup(platform: group.platform))
                    #expect(recipients.allSatisfy { !$0.hasLeft })
                    return NaiveTable.Group(platform: group.platform, handles: recipients.map(\.handle.text).sorted())
                }
                #expect(NaiveTable.Group.counted(groups) == expected.groups)
                #expect(targets.groups.map { $0.members.first ?? 0 } == targets.groups.compactMap { $0.members.min() }.sorted())
            }
        }
    }

    // MARK: - Runs

    mutating func begin() {
        let token = table.beginRun()
        let targets = TargetFinder(table: table).targets(of: expressions()[number(below: 5)], for: contents[number(below: 2)])
        let rowNumbers = targets.groups.flatMap(\.members) + targets.duplicates
        let meant = Dictionary(uniqueKeysWithValues: rowNumbers.map { ($0, table.id(at: $0)) })
        runs.append(Run(token: token, targets: targets, meant: meant))
    }

    func compareRuns() {
        for run in runs {
            for group in run.targets.groups {
                let recipients = table.recipients(at: group.members, of: RecipientGroup(platform: group.platform))
                for (rowNumber, recipient) in zip(group.members, recipients) {
                    #expect(recipient.registrationID == run.meant[rowNumber])
                    let row = recipient.registrationID.flatMap { naive.rows[$0] }
                    let isThere = row.map { table.row(of: $0.id) == rowNumber && $0.platform == group.platform } ?? false
                    #expect(recipient.hasLeft == !isThere)
                    if isThere { #expect(recipient.handle == row?.handle) }
                }
            }
        }
    }

    mutating func endRun() { table.endRun(runs.remove(at: number(below: runs.count)).token) }

    mutating func fillUp() throws {
        apply(owed)
        owed = RegistrationChange()
        let end = table.end
        for number in 0..<Int(end) - table.count {
            let registration = registration(try #require(RegistrationID("9\(number)-9-1")))
            apply(RegistrationChange(puts: [table.placed(registration)]))
            naive.put(registration)
        }
        #expect(table.end == end && table.count == Int(end))
        try compare()
    }
}
