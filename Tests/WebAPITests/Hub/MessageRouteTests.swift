import HTTPTypes
import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct MessageRouteTests {
    @Test func `The answer to a test send has the requested path, and the error names its own limit`() async throws {
        let bench = try await RouteBench()
        var access = bench.access
        access.testThrottle = Throttle(perMinute: 1)
        let routes = MessageRoutes(access: access)
        let batch =
            "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"AA01\"]\r\n"
            + "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b--"
        let signed = try bench.request("/hub/messages/$batch")
        let fields = try HTTPFields.of([
            "ServiceBusNotification-Format": "apple", "Content-Type": "multipart/mixed; boundary=b",
            "Authorization": #require(signed.fields[.authorization]),
        ])
        let request = bench.unsigned("/hub/messages/$batch", query: "test&direct&api-version=2015-08", body: batch, fields: fields)
        let answer = try await routes.sendBatch("hub", request)
        #expect(answer.status == .created)
        let location = try #require(answer.fields[.location])
        #expect(location.wholeMatch(of: /http:\/\/localhost\/hub\/messages\/\$batch\/[^\/?]+\?api-version=2015-08&direct&test/) != nil)
        let error = await refusal { try await routes.sendBatch("hub", request) }
        #expect(error?.code == "hub.throttled" && error?.message == "too many test sends to this hub")
    }
}
