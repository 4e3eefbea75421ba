import Foundation
import PushModel
import PushRuntime
import Testing

/// Sends, telemetry, hubs and errors on the wire, in the formats that Azure's clients send and parse.
@Suite struct RecordedMessageTests {
    private static let token = String(repeating: "AB", count: 32)
    private static let alert = #"{"aps":{"alert":"Hello"}}"#
    private static let connect =
        #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
        + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#

    private static func registration(_ token: String) -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + "<AppleRegistrationDescription><Tags>news</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
            + "</content></entry>"
    }

    private static func hub(_ members: String = "") -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \#(connect)>"#
            + "\(members)</NotificationHubDescription></content></entry>"
    }

    /// The id of the notification, from the response to a send.
    private static func id(_ answer: WireAnswer) -> String {
        (answer["Location"]?.prefix { $0 != "?" }.split(separator: "/").last).map(String.init) ?? ""
    }

    @Test func `the operator's settings decide about empty tags and about a userId from a key with Listen`() async throws {
        let installation = #"{"installationId":"pad","platform":"apns","pushChannel":"\#(Self.token)","userId":"bob"}"#
        for (settings, tags, user) in [
            ([:], 400, 200), (["PUSHHOST_HUB_EMPTY_TAGS": "everyone", "PUSHHOST_HUB_LISTEN_USER_ID": "refuse"], 201, 403),
        ] as [([String: String], Int, Int)] {
            try await ServedHub.serving(settings: settings) { hub in
                let format = ("ServiceBusNotification-Format", "apple")
                for text in ["", "  "] {
                    let empty = try await hub.call(
                        "POST", "/hub/messages?api-version=2015-04",
                        [format.0: format.1, "ServiceBusNotification-Tags": text], body: Self.alert)
                    #expect(empty.status == tags && empty.body.contains("nothing was sent") == (tags == 400), "\(empty.body)")
                }
                let everyone = try await hub.call("POST", "/hub/messages?api-version=2015-04", [format.0: format.1], body: Self.alert)
                #expect(everyone.status == 201)
                let listening = try await hub.call("PUT", "/hub/installations/pad", body: installation, by: .listen)
                #expect(listening.status == user, "\(listening.body)")
                #expect(try await hub.call("PUT", "/hub/installations/pad", body: installation).status == 200)
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a send is answered 201 with only its address, and its telemetry has the order of .NET`()
        async throws
    {
        try await ServedHub.serving(isSimulated: true) { hub in
            #expect(try await hub.call("POST", "/hub/registrations", body: Self.registration(Self.token)).status == 200)
            let sent = try await hub.call(
                "POST", "/hub/messages/?api-version=2015-04",
                ["ServiceBusNotification-Format": "apple", "servicebusnotification-tags": "news || weather"], body: Self.alert)
            #expect(sent.status == 201)
            #expect(sent.body.isEmpty)
            #expect(sent["Content-Type"] == "application/xml; charset=utf-8")
            let id = Self.id(sent)
            #expect(id.wholeMatch(of: /[0-9a-f]{32}-\d{14}-\d+-\d+/) != nil)
            let address = "http://localhost:\(hub.port)/hub/messages/\(id)?api-version="
            #expect(sent["Location"] == "\(address)2015-04")

            var details = WireAnswer()
            repeat {
                details = try await hub.call("GET", "/hub/Messages/\(id)?api-version=2016-07")
                try #require(details.status == 200)
            } while details.body.contains(/<State>(Enqueued|Processing)</)
            #expect(
                details.masked
                    == "<NotificationDetails \(Self.connect)><NotificationId>\(id)</NotificationId>"
                    + "<Location>\(address)2016-07</Location><State>Completed</State><EnqueueTime>TIME</EnqueueTime>"
                    + "<StartTime>TIME</StartTime><EndTime>TIME</EndTime><NotificationBody>\(Self.alert)</NotificationBody>"
                    + "<Tags>news || weather</Tags><TargetPlatforms>apple</TargetPlatforms>"
                    + "<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>"
                    + "</NotificationDetails>")
            let unknown = try await hub.call("GET", "/hub/messages/nothing?api-version=2016-07")
            #expect(unknown.status == 404)
        }
    }

    @Test func `a test send lists every device, and has a body even without devices`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let registered = try await hub.call("POST", "/hub/registrations?test", body: Self.registration(Self.token))
            let registration = try #require(registered.body.firstMatch(of: /<RegistrationId>([^<]+)</)).1
            for flag in ["test", "test=true", "test="] {
                let answer = try await hub.call(
                    "POST", "/hub/messages?\(flag)&api-version=2020-06", ["ServiceBusNotification-Format": "apple"], body: Self.alert)
                #expect(answer.status == 201)
                #expect(
                    answer.body
                        == "<NotificationOutcome \(Self.connect)><Success>1</Success><Failure>0</Failure><Results><RegistrationResult>"
                        + "<ApplicationPlatform>apple</ApplicationPlatform><PnsHandle>\(Self.token)</PnsHandle>"
                        + "<RegistrationId>\(registration)</RegistrationId>"
                        + "<Outcome>The Notification was successfully sent to the Push Notification System</Outcome>"
                        + "</RegistrationResult></Results></NotificationOutcome>")
                #expect(answer["Content-Type"] == "application/xml; charset=utf-8")
            }
            let nobody = try await hub.call(
                "POST", "/hub/messages?api-version=2020-06&test",
                ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "nobody"], body: Self.alert)
            #expect(nobody.status == 201)
            #expect(
                nobody.body
                    == "<NotificationOutcome \(Self.connect)><Success>0</Success><Failure>0</Failure><Results/></NotificationOutcome>")
        }
    }

    @Test func `a payload that the push service rejects is accepted, and its devices have the outcome`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_LISTEN_PUBLIC_URL": "https://push.example/"]) { hub in
            #expect(hub.screen.contains(" Endpoint=sb://push.example/;SharedAccessKeyName="))
            #expect(try await hub.call("POST", "/hub//registrations", body: Self.registration(Self.token)).status == 200)
            let large = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#
            let sent = try await hub.call("POST", "/hub/messages", ["ServiceBusNotification-Format": "apple"], body: large)
            #expect(sent.status == 201)
            #expect(sent["Location"]?.hasPrefix("https://push.example/hub/messages/") == true)
            let tested = try await hub.call("POST", "/hub/messages?test", ["ServiceBusNotification-Format": "apple"], body: large)
            #expect(tested.status == 201)
            #expect(tested.body.contains("<Success>0</Success><Failure>1</Failure>"))
            #expect(tested.body.contains("<Outcome>The Notification payload is invalid</Outcome>"))
            let lost = try await hub.call("POST", "/hub/messages", ["ServiceBusNotification-Format": "windows"], body: "<toast>")
            #expect(lost.status == 400)
            #expect(lost.body.contains("<Detail>The WNS payload is not XML: "))
        }
    }

    @Test func `a batch may have spaces around the sign in its boundary, and its Location has its own path`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let handles = (1...3).map { String(repeating: "1\($0)", count: 32) }
            let body = [
                "--nh-batch-multipart-boundary", "Content-type: application/json", "Content-Disposition: inline; name=notification", "",
                Self.alert, "--nh-batch-multipart-boundary", "Content-Type: application/json",
                "Content-Disposition: inline; name=devices", "",
            ].joined(separator: "\r\n")
            for (index, type) in [
                #"multipart/mixed; boundary = "nh-batch-multipart-boundary""#, "multipart/mixed; boundary=nh-batch-multipart-boundary",
                #"multipart/form-data; boundary="nh-batch-multipart-boundary""#,
            ].enumerated() {
                let quote = index == 0 ? "'" : "\""
                let list = "[" + handles.map { quote + $0 + quote }.joined(separator: ",") + "]"
                // One client sends a stray byte in the place of a number.
                let sent = try await hub.call(
                    "POST", "/hub/messages/$batch?direct&api-version=2015-08",
                    ["Content-Type": type, "ServiceBusNotification-Format": "apple", "X-Apns-Expiration": "\u{8A}"],
                    body: "\(body)\r\n\(list)\r\n--nh-batch-multipart-boundary--\r\n")
                #expect(sent.status == 201, "\(type): \(sent.body)")
                let start = "http://localhost:\(hub.port)/hub/messages/$batch/"
                #expect(sent["Location"]?.hasPrefix(start) == true)
                #expect(sent["Location"]?.hasSuffix("\(Self.id(sent))?api-version=2015-08&direct") == true)
                #expect(!Self.id(sent).contains("$"))
                #expect(try await hub.call("GET", "/hub/messages/\(Self.id(sent))").status == 200)
            }
            let direct = try await hub.call(
                "POST", "/hub/messages?api-version=2015-01&direct=",
                [
                    "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": handles[0],
                    "X-Apns-Expiration": "\u{FF}\u{00AD}",
                ], body: Self.alert)
            #expect(direct.status == 201)
        }
    }

    @Test func `a schedule accepts every time format, and can be cancelled once`() async throws {
        try await ServedHub.serving { hub in
            let soon = (SystemClock().now + .seconds(86_400)).iso8601(fraction: false).dropLast()
            for time in [
                "\(soon)", "\(soon)Z", "\(soon).123Z", "\(soon).434702+00:00", "\(soon)".replacing("T", with: "'T'"),
            ] {
                let sent = try await hub.call(
                    "POST", "/hub/schedulednotifications/?api-version=2015-04",
                    ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": time], body: Self.alert)
                #expect(sent.status == 201, "\(time)")
                #expect(sent.body.isEmpty)
                let path = "/hub/schedulednotifications/\(Self.id(sent))?api-version=2015-04"
                #expect(sent["Location"] == "http://localhost:\(hub.port)\(path)")
                let telemetry = try await hub.call("GET", "/hub/messages/\(Self.id(sent))?api-version=2016-07")
                #expect(telemetry.body.contains("<State>Scheduled</State>"))
                let cancelled = try await hub.call("DELETE", path)
                #expect(cancelled.status == 200)
                #expect(cancelled.body.isEmpty)
                #expect(try await hub.call("DELETE", path).status == 404)
            }
            let far = (SystemClock().now + .seconds(8 * 86_400)).description
            let refused = try await hub.call(
                "POST", "/hub/schedulednotifications",
                ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": far], body: Self.alert)
            #expect(refused.status == 400)
            #expect(
                try await hub.call("POST", "/hub/schedulednotifications", ["ServiceBusNotification-Format": "apple"], body: Self.alert)
                    .status == 400)
        }
    }

    @Test func `a client that sends Expect gets 100 Continue`() async throws {
        try await ServedHub.serving { hub in
            for expectation in [nil, "100-continue", "100-Continue"] {
                let format = "ServiceBusNotification-Format: apple"
                let headers = [format, "Authorization: \(try hub.token(.full))"] + (expectation.map { ["Expect: \($0)"] } ?? [])
                let sent = try await WireAnswer.exchange(
                    "POST", "/hub/messages", headers, body: Array(Self.alert.utf8), port: hub.port)
                #expect(sent.isContinued == (expectation != nil))
                #expect(sent.status == 201)
            }
        }
    }

    @Test func `a repeated send with the same idempotency key is not sent again, and another request is rejected`() async throws {
        try await ServedHub.serving { hub in
            func send(_ body: String) async throws -> WireAnswer {
                try await hub.call(
                    "POST", "/hub/messages", ["ServiceBusNotification-Format": "apple", "Idempotency-Key": "k-1"], body: body)
            }
            let (first, second) = (try await send(Self.alert), try await send(Self.alert))
            #expect(first.status == 201)
            #expect(second.status == 201)
            #expect(second["Location"] == first["Location"])
            #expect(first["Idempotency-Replayed"] == nil)
            #expect(second["Idempotency-Replayed"] == "true")
            let other = try await send(#"{"aps":{"alert":"Bye"}}"#)
            #expect(other.status == 422)
            #expect(other.body.hasPrefix("<Error><Code>422</Code><Detail>"))
        }
    }

    @Test func `hubs can be created, changed, listed and deleted, and an existing name is rejected`() async throws {
        try await ServedHub.serving { hub in
            let path = "/news/de?api-version=2020-06"
            let absent = try await hub.call("GET", path, by: .root)
            #expect(absent.status == 200)
            #expect(absent["Content-Type"] == "application/atom+xml;type=feed;charset=utf-8")
            #expect(absent.body.contains(#"<title type="text">Publicly Listed Services</title>"#))
            #expect(!absent.body.contains("<entry"))

            let made = try await hub.call("PUT", path, body: Self.hub("<RegistrationTtl>P90D</RegistrationTtl>"), by: .root)
            #expect(made.status == 201)
            #expect(made["Content-Type"] == "application/atom+xml;type=entry;charset=utf-8")
            let link = "http://localhost:\(hub.port)/news/de?api-version=2020-06"
            #expect(
                made.masked.hasPrefix(
                    #"<entry xmlns="http://www.w3.org/2005/Atom"><id>\#(link)</id><title type="text">news/de</title>"#
                        + "<published>NOW</published><updated>NOW</updated><author><name>localhost</name></author>"
                        + #"<link rel="self" href="\#(link)"/><content type="application/xml"><NotificationHubDescription \#(Self.connect)>"#
                        + #"<RegistrationTtl>P90D</RegistrationTtl><AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule">"#
                        + "<ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue><Rights><AccessRights>Listen</AccessRights>"
                        + "</Rights><CreatedTime>"))

            let again = try await hub.call("PUT", path, body: Self.hub(), by: .root)
            #expect(again.status == 409)
            #expect(again.body.hasPrefix("<Error><Code>409</Code><Detail>SubCode=40900. Conflict"))
            let changed = try await hub.call(
                "PUT", path, ["If-Match": "*"], body: Self.hub("<UserMetadata>ours</UserMetadata>"), by: .root)
            #expect(changed.status == 200)
            #expect(changed.body.contains("<UserMetadata>ours</UserMetadata>"))
            #expect(changed.body.contains("<RegistrationTtl>P10675199DT2H48M5.4775807S</RegistrationTtl>"))
            #expect(try await hub.call("GET", path, by: .root).masked == changed.masked)
            #expect(try await hub.call("PUT", "/none", ["If-Match": "*"], body: Self.hub(), by: .root).status == 404)

            for list in ["/", "/$Resources/NotificationHubs/?api-version=2014-09&$skip=0&$top=2147483647"] {
                let feed = try await hub.call("GET", list, by: .root)
                #expect(feed.status == 200)
                let titles = feed.body.matches(of: /<entry><id>[^<]*<\/id><title type="text">([^<]*)</).map { String($0.1) }
                #expect(titles == ["hub", "news/de"], "\(list)")
            }
            #expect(try await hub.call("POST", "/news/de/registrationids/", by: .root).status == 201)
            let deleted = try await hub.call("DELETE", path, by: .root)
            #expect(deleted.status == 200)
            #expect(deleted.body.isEmpty)
            let gone = try await hub.call("POST", "/news/de/registrationids/", by: .root)
            #expect(gone.status == 404)
            #expect(gone.body.contains("<Detail>No service is hosted at the specified address."))
            #expect(try await hub.call("GET", path, by: .root).status == 404)
        }
    }
}
