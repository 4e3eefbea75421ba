import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Compares plans with sends, over random hubs.
@Suite struct PlanAgreementTests {
    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `A plan lists exactly the devices that the send reaches`(seed: UInt64) async throws {
        let walk = try PlanWalk(seed: seed)
        for _ in 0..<60 { try await walk.change() }
        for _ in 0..<25 {
            for _ in 0..<3 { try await walk.change() }
            let (audience, content) = (walk.audience(), walk.content())
            let report = try await walk.hub.plan(PlanRequest(audience: audience, content: content))
            let planned = try await walk.hub.devices(ofPlan: report.id ?? "", from: 0, limit: .max)
            let outcome = try await walk.hub.send(NotificationRequest(audience: audience, content: content))
            #expect(counted(planned.map(PlannedRow.init)) == counted(outcome.devices.map(PlannedRow.init)))
            #expect(report.total + report.duplicates == outcome.total)
            #expect(report.duplicates == planned.count(where: \.isDuplicate))
            #expect(report.refused == planned.count { $0.isRefused && !$0.isDuplicate })
            #expect(report.platforms.values.reduce(0, +) == report.total)
            #expect(report.templates.reduce(0) { $0 + $1.devices } == report.total)
            #expect(report.groups.reduce(0) { $0 + $1.devices } == report.total)
            for group in report.groups where group.isTooLarge { #expect(group.refusal != nil) }
            #expect((outcome.state == .noTargetFound) == (report.total == 0))
            #expect(report.nearMisses == outcome.nearMisses)
        }
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `A send bound to a plan reaches its devices that are still registered, or is rejected`(seed: UInt64) async throws {
        let walk = try PlanWalk(seed: seed)
        for _ in 0..<50 { try await walk.change() }
        var (sent, refused) = (0, 0)
        for _ in 0..<20 {
            let (audience, content) = (walk.audience(), walk.content())
            let hasContent = walk.number(below: 3) > 0
            let before = try await reached(walk, audience, hasContent ? content : nil)
            let plan = try await walk.hub.plan(PlanRequest(audience: audience, content: hasContent ? content : nil))
            #expect(plan.total + plan.duplicates == before.count)
            for _ in 0..<walk.number(below: 6) { try await walk.change() }
            let now = try await reached(walk, audience, hasContent ? content : nil)
            let drift = (
                joined: now.keys.count { before[$0] == nil }, left: before.keys.count { now[$0] == nil },
                changed: now.count { id, body in before[id].map { $0 != body } ?? false }
            )
            let total = drift.joined + drift.left + drift.changed
            let tolerance = walk.number(below: 3) == 0 ? total : walk.number(below: 4)
            let send = PlannedSend(
                PlanBinding(plan.id ?? "", tolerance: .devices(tolerance)), content: hasContent ? nil : content)
            if total > tolerance {
                let refusal = await refusal { _ = try await walk.hub.send(send) }
                #expect(refusal?.code == "plan.drifted")
                #expect(refusal?.details["joined"] == .integer(Int64(drift.joined)))
                #expect(refusal?.details["left"] == .integer(Int64(drift.left)))
                #expect(refusal?.details["changed"] == .integer(Int64(drift.changed)))
                refused += 1
            } else {
                let outcome = try await walk.hub.send(send)
                let expected = try await reached(walk, audience, content).keys.filter { before[$0] != nil }
                #expect(Set(outcome.devices.compactMap(\.registrationID)) == Set(expected))
                #expect(outcome.devices.count == expected.count)
                sent += 1
            }
        }
        #expect(sent > 0 && refused > 0)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `A plan is compared with the previous one: devices that joined and devices that left`(seed: UInt64) async throws {
        let walk = try PlanWalk(seed: seed)
        for _ in 0..<50 { try await walk.change() }
        for _ in 0..<10 {
            let (audience, content) = (walk.audience(), walk.content())
            let request = PlanRequest(audience: audience, content: content)
            let first = try await walk.hub.plan(request)
            let before = try await reached(walk, audience, content)
            for _ in 0..<5 { try await walk.change() }
            let now = try await reached(walk, audience, content)
            let second = try await walk.hub.plan(request)
            let difference = try #require(second.difference)
            #expect(difference.planID == first.id)
            #expect(difference.joined == now.keys.count { before[$0] == nil })
            #expect(difference.left == before.keys.count { now[$0] == nil })
            #expect(difference.changed == now.count { id, body in before[id].map { $0 != body } ?? false })
            for device in difference.firstJoined { #expect(device.registrationID.map { now[$0] != nil && before[$0] == nil } == true) }
            for device in difference.firstLeft { #expect(device.registrationID.map { now[$0] == nil && before[$0] != nil } == true) }
        }
    }

    private func counted(_ rows: [PlannedRow]) -> [PlannedRow: Int] { rows.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    /// The result without the index: registrations with matching tags that can receive the content, with the bytes for each.
    private func reached(
        _ walk: PlanWalk, _ audience: Audience, _ content: NotificationContent?
    ) async throws -> [RegistrationID: Reached] {
        var found: [RegistrationID: Reached] = [:]
        for registration in try await walk.hub.allRegistrations(.all) {
            guard audience.expression.map({ $0.matches(Set(registration.tags)) }) ?? true else { continue }
            let template = registration.template
            switch content {
            case nil: found[registration.id] = Reached(platform: registration.platform, text: template?.body ?? "")
            case .template(let properties)?:
                guard let template else { continue }
                let used = registration.pushVariables.filter { template.variables.contains($0.key.lowercased()) }
                let body = template.compiled.render(TemplateProperties(properties).with(fallback: used))
                found[registration.id] = Reached(platform: registration.platform, text: String(decoding: body, as: UTF8.self))
            case .native(let payloads)?:
                guard template == nil, let payload = payloads[registration.platform] else { continue }
                found[registration.id] = Reached(platform: registration.platform, text: String(decoding: payload.body, as: UTF8.self))
            }
        }
        return found
    }

    private struct Reached: Equatable {
        var platform: Platform
        var text: String
    }
}
