import PushModel
import Testing

@testable import PushHost

/// What `pushhost status` shows.
@Suite struct StatusTests {
    private static let hub: JSON = [
        "name": "shop", "registrations": 12, "installations": 5, "waiting": 1, "pushServices": ["apns"],
        "troubles": [["platform": "apns", "reason": "BadTopic", "nextTryAt": "2026-01-05T09:00:00.000Z"]],
        "credentials": [["platform": "apns", "address": "https://api.push.apple.com"]],
    ]

    @Test func `a server without issues is well`() {
        let status = ServerOverview.Status(version: "1.0", url: "http://localhost:8080", hubs: [["name": "shop"]], approvals: 0)
        let lines = status.lines(Palette(isOn: false))
        #expect(status.isWell && lines.count == 3 && lines[0] == "✓ running  version 1.0 · http://localhost:8080")
        #expect(status.json["issues"] == [] && status.json["pendingApprovals"] == 0)
    }

    @Test func `issues, held removals and pending approvals are listed`() {
        let status = ServerOverview.Status(hubs: [Self.hub], approvals: 3, held: [("shop", 7)])
        let issue =
            "shop: APNs: https://api.push.apple.com rejects the hub's credential (BadTopic); next attempt at 2026-01-05T09:00:00.000Z"
        #expect(!status.isWell && status.issues == [issue, "shop: 7 removals are held (pushhost pruned held)"])
        let lines = status.lines(Palette(isOn: false))
        #expect(lines.contains("  3 awaiting approval: pushhost approvals list") && lines.contains("  issue  \(issue)"))
        #expect(status.json["version"] == nil && status.json["hubs"] == [Self.hub])
    }
}
