import PushModel
import Support
import Testing

@testable import Storage

// Plans with their reports and devices.
extension VersionContent {
    func expectPlans(in store: any HubStore) async throws {
        guard version >= .plans else {
            #expect(try await store.plans(before: nil, limit: 9) == [])
            #expect(try await store.lastPlan() == 0)
            return
        }
        let (news, everyone) = (try newsPlan, Self.everyonePlan)
        #expect(try await store.plan(1) == news)
        #expect(try await store.plan(3) == everyone)
        #expect(try await store.plans(before: nil, limit: 9).map(\.number) == [3, 1])
        #expect(try await store.latestPlan(of: "template news")?.number == 1)
        #expect(try await store.lastPlan() == 3)
        #expect(try await store.planPart(1, part: 0) == Self.newsPart)
        #expect(try await store.planPart(1, part: 1) == nil)
        #expect(try await store.planPart(3, part: 0) == nil)
        #expect(try await store.notifications(ofPlan: 1, limit: 9) == [Self.id(7)])
    }

    private var newsPlan: StoredPlan {
        get throws {
            var report = PlanReport(
                plannedAt: Self.at(160), audience: try Self.audience("news"), content: .template(["message": "Final score"]))
            report.id = "p-0001"
            report.expiresAt = Self.at(604_960)
            report.plannedBy = "owner"
            (report.matched, report.total, report.duplicates, report.refused) = (4, 2, 1, 1)
            report.platforms = [.apns: 1, .fcmV1: 1]
            report.tags = [PlanReport.Count(name: "News", devices: 2)]
            report.locales = [PlanReport.Count(name: "pt-PT", devices: 1)]
            report.templates = [
                PlanReport.TemplateCount(
                    platform: .apns, name: "alert", isTemplate: true, devices: 1, smallest: 22, largest: 22, refused: 1)
            ]
            report.groups = [group]
            (report.furtherTags, report.furtherTemplates, report.furtherGroups) = (3, 4, 5)
            report.nearMisses = ["similar: new"]
            report.failedTerms = [PlanReport.FailedTerm(term: "news", matches: 2, without: 3)]
            return StoredPlan(number: 1, subject: "template news", members: 3, report: report)
        }
    }

    /// Versions before `planSends` did not examine templates.
    private var group: PlanReport.Group {
        var group = PlanReport.Group(
            platform: .apns, templateName: "alert", isTemplate: true, devices: 1, payload: #"{"aps":{"alert":"é"}}"#,
            headers: [PushHeader("apns-push-type", "alert")], bytes: 22, limit: 4096)
        group.refusal = SendPreview.Group.Refusal(outcome: .invalidCredentials, reason: "403", explanation: "no credential")
        if version >= .planSends {
            group.missing = ["message"]
            group.isTextless = true
            group.texts = ["$(x)"]
        }
        return group
    }

    /// The encoded devices: two kinds, and three members of which one is a duplicate with an unusual id.
    private static var newsPart: [UInt8] {
        var bytes: [UInt8] = [2]
        bytes.append(text: "apns")
        bytes.append(0b1111)
        bytes.append(text: "alert")
        bytes.append(22)
        bytes.append(word: 0x1122_3344_5566_7788)
        bytes.append(text: "browser")
        bytes += [0b1000, 2]
        bytes.append(word: 9)
        bytes += [3, 1, 0, 1]
        bytes.append(word: 1_000_002)
        bytes.append(word: 2_000_002)
        bytes += [2, 1, 15]
        bytes.append(text: "07-8-1")
        bytes += [2, 2, 1]
        bytes.append(word: 2_791_930_577_995_350_061)
        bytes.append(word: 1_383_940_673_593_449_736)
        return bytes
    }

    /// Without content and devices, compared with the other plan.
    private static var everyonePlan: StoredPlan {
        var joined = PlannedDevice(registrationID: Samples.id(2), platform: .apns)
        (joined.installationID, joined.user, joined.handle, joined.templateName) = ("ana-1", "Ana", "000000…0001", "alert")
        (joined.isTemplate, joined.bytes, joined.isRefused) = (true, 22, true)
        var left = PlannedDevice(registrationID: nil, platform: .fcmV1)
        (left.isDuplicate, left.hasLeft) = (true, true)
        var report = PlanReport(plannedAt: at(161), audience: .everyone, content: nil)
        report.id = "p-0003"
        report.difference = PlanReport.Difference(
            planID: "p-0001", plannedAt: at(160), joined: 1, left: 2, changed: 3, firstJoined: [joined], firstLeft: [left])
        return StoredPlan(number: 3, subject: "all *", members: 0, report: report)
    }
}
