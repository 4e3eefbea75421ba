import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct NotificationOutcomeTests {
    private static let head =
        #" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#

    private func device(_ outcome: OutcomeName, _ handle: DeviceHandle, id: String? = nil) -> DeviceOutcome {
        DeviceOutcome(
            device: OutcomeDevice(
                registrationID: id.flatMap { RegistrationID($0) }, platform: handle.platform, handle: handle, templateName: nil),
            outcome: outcome, reason: "R", cause: .text("said in words"), pushID: nil, size: 1, isRegistrationRemoved: false)
    }

    @Test func `the answer to a test send has a result per device`() {
        var outcome = NotificationOutcome(
            id: "n", state: .detailedStateAvailable, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        outcome.devices = [
            device(.success, .apns(token: "AA"), id: "1-2-3"), device(.wrongToken, .fcmV1(token: "a<b")),
            device(.throttled, .wns(channel: "https://x/?a&b")),
        ]
        outcome.tally.count(outcome.devices)
        let text =
            "<NotificationOutcome\(Self.head)><Success>1</Success><Failure>2</Failure><Results><RegistrationResult>"
            + "<ApplicationPlatform>apple</ApplicationPlatform><PnsHandle>AA</PnsHandle><RegistrationId>1-2-3</RegistrationId>"
            + "<Outcome>The Notification was successfully sent to the Push Notification System</Outcome></RegistrationResult>"
            + "<RegistrationResult><ApplicationPlatform>fcmv1</ApplicationPlatform><PnsHandle>a&lt;b</PnsHandle>"
            + "<Outcome>The Push Notification System handle for the registration is invalid</Outcome></RegistrationResult>"
            + "<RegistrationResult><ApplicationPlatform>windows</ApplicationPlatform><PnsHandle>https://x/?a&amp;b</PnsHandle>"
            + "<Outcome>said in words</Outcome></RegistrationResult></Results></NotificationOutcome>"
        #expect(String(decoding: OutcomeXML.testDocument(outcome), as: UTF8.self) == text)
    }

    @Test func `the answer to a test send without recipients is not empty`() {
        let outcome = NotificationOutcome(
            id: "n", state: .noTargetFound, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        let text = "<NotificationOutcome\(Self.head)><Success>0</Success><Failure>0</Failure><Results/></NotificationOutcome>"
        #expect(String(decoding: OutcomeXML.testDocument(outcome), as: UTF8.self) == text)
    }

    @Test func `the details of a notification are in the order that .NET reads`() {
        let outcome = NotificationOutcome(
            id: "n-1", state: .completed, tags: "a && b",
            times: NotificationTimes(
                enqueuedAt: HubBench.startTime, startedAt: HubBench.startTime + .milliseconds(5),
                endedAt: HubBench.startTime + .seconds(1)),
            tally: DeviceTally(counts: [.fcmV1: [.success: 2], .apns: [.success: 3, .badChannel: 1], .browser: [.skipped: 1]]))
        let request = NotificationRequest(audience: .everyone, content: .template(["b": "<2>", "a": "1"]))
        let text =
            "<NotificationDetails\(Self.head)><NotificationId>n-1</NotificationId><Location>https://ns/hub/messages/n-1?a=1&amp;b</Location>"
            + "<State>Completed</State><EnqueueTime>2026-01-05T09:00:00.000Z</EnqueueTime><StartTime>2026-01-05T09:00:00.005Z</StartTime>"
            + "<EndTime>2026-01-05T09:00:01.000Z</EndTime><NotificationBody>{\"a\":\"1\",\"b\":\"&lt;2&gt;\"}</NotificationBody>"
            + "<Tags>a &amp;&amp; b</Tags><TargetPlatforms>appletemplate,fcmv1template,browsertemplate</TargetPlatforms>"
            + "<ApnsOutcomeCounts><Outcome><Name>BadChannel</Name><Count>1</Count></Outcome>"
            + "<Outcome><Name>Success</Name><Count>3</Count></Outcome></ApnsOutcomeCounts>"
            + "<FcmV1OutcomeCounts><Outcome><Name>Success</Name><Count>2</Count></Outcome></FcmV1OutcomeCounts>"
            + "<BrowserOutcomeCounts><Outcome><Name>Skipped</Name><Count>1</Count></Outcome></BrowserOutcomeCounts></NotificationDetails>"
        let bytes = OutcomeXML.detailsDocument(outcome, at: "https://ns/hub/messages/n-1?a=1&b", request: request)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test func `unknown details of a notification are omitted`() {
        let outcome = NotificationOutcome(id: "n", state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        let text =
            "<NotificationDetails\(Self.head)><NotificationId>n</NotificationId><Location>l</Location><State>Enqueued</State>"
            + "<EnqueueTime>2026-01-05T09:00:00.000Z</EnqueueTime></NotificationDetails>"
        #expect(String(decoding: OutcomeXML.detailsDocument(outcome, at: "l", request: nil), as: UTF8.self) == text)
    }
}
