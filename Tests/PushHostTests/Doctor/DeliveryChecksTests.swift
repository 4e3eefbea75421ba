import PushModel
import PushServer
import Testing

@testable import PushHost

@Suite struct DeliveryChecksTests {
    @Test func `Subscriptions of another VAPID key are a finding with a hint`() throws {
        let document: JSON = ["hub": "hub", "platform": "browser", "mixUp": "most subscriptions have another VAPID key; use the app's"]
        let check = DeliveryChecks.check(try #require(HubIssue(document)))
        #expect(!check.isWell)
        #expect("\(check)".contains("hub hub: Web Push: most subscriptions have another VAPID key"), "\(check)")
    }
}
