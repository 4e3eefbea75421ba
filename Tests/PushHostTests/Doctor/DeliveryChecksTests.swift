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

    @Test func `A server without push credentials is told so, unless the services are simulated`() {
        let bare = DeliveryChecks.withoutIssues(isSimulated: false, hasCredentials: false)
        #expect(bare.isWell && bare.finding.hasSuffix("were found; no push credentials are set"))
        for (isSimulated, hasCredentials) in [(true, false), (false, true), (true, true)] {
            let check = DeliveryChecks.withoutIssues(isSimulated: isSimulated, hasCredentials: hasCredentials)
            #expect(check.isWell && check.finding.hasSuffix("no tokens of the wrong environment were found"))
        }
    }
}
