import HTTPTypes
import Simulators
import Testing

/// Variants that Google's own clients write, and values that do not fit the fields of the reference.
@Suite struct FCMShapeTests {
    private static let schema = "400 INVALID_ARGUMENT field"
    private static let field = "400 INVALID_ARGUMENT fcm:INVALID_ARGUMENT field"

    /// Every field of a message with a valid value.
    private static let good = #"""
        "name":"n","data":{"k":"v"},"notification":{"title":"T","body":"B","image":"https://example.com/i.png"},
        "android":{"collapse_key":"k","priority":"high","ttl":"3.5s","restricted_package_name":"com.example.news","data":{"l":"w"},
          "direct_boot_ok":true,"bandwidth_constrained_ok":false,"restricted_satellite_ok":"true",
          "fcm_options":{"analytics_label":"a-Z_0.~%"},
          "notification":{"title":"T","body":"B","icon":"i","color":"#00fFa9","sound":"s","tag":"t","click_action":"c",
            "body_loc_key":"k","body_loc_args":["a"],"title_loc_key":"k","title_loc_args":["a"],"channel_id":"c","ticker":"t",
            "sticky":true,"event_time":"2014-10-02T15:01:23.045123456Z","local_only":false,"notification_priority":"PRIORITY_MAX",
            "default_sound":true,"default_vibrate_timings":true,"default_light_settings":true,"vibrate_timings":["3.5s","1s"],
            "visibility":"SECRET","notification_count":3,"image":"i","proxy":"ALLOW","bypass_proxy_notification":true,
            "light_settings":{"color":{"red":1,"green":0.5,"blue":0,"alpha":1e0},"light_on_duration":"1s","light_off_duration":"0.5s"}}},
        "apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"alert":null}},"live_activity_token":"t",
          "fcm_options":{"analytics_label":"a","image":"i"}},
        "webpush":{"headers":{"TTL":"60"},"data":{"k":"v"},"notification":{"title":"T","badge":null},
          "fcm_options":{"link":"HTTPS://example.com/","analytics_label":"a"}},
        "fcm_options":{"analytics_label":"a"}
        """#

    @Test func `a message with every field is accepted`() async throws {
        let reply = try await FCMBench().send(Self.good)
        #expect(reply.kind == "200", "\(reply.text)")
    }

    @Test(arguments: [
        (#""3.5s","1s""#, #""3.5s","fast""#, "message.android.notification.vibrate_timings[1]"),
        (#"["3.5s","1s"]"#, #"[null]"#, "message.android.notification.vibrate_timings[0]"),
        (#""visibility":"SECRET""#, #""visibility":"HIDDEN""#, "message.android.notification.visibility"),
        (#""visibility":"SECRET""#, #""visibility":4"#, "message.android.notification.visibility"),
        ("PRIORITY_MAX", "MAX", "message.android.notification.notification_priority"),
        (#""proxy":"ALLOW""#, #""proxy":"YES""#, "message.android.notification.proxy"),
        (#""priority":"high""#, #""priority":"URGENT""#, "message.android.priority"),
        (#""sticky":true"#, #""sticky":"yes""#, "message.android.notification.sticky"),
        (#""local_only":false"#, #""local_only":0"#, "message.android.notification.local_only"),
        (#""default_sound":true"#, #""default_sound":[]"#, "message.android.notification.default_sound"),
        (#""direct_boot_ok":true"#, #""direct_boot_ok":1"#, "message.android.direct_boot_ok"),
        ("2014-10-02T15:01:23.045123456Z", "2014-10-02 15:01:23Z", "message.android.notification.event_time"),
        ("2014-10-02T15:01:23.045123456Z", "2014-02-29T15:01:23Z", "message.android.notification.event_time"),
        ("2014-10-02T15:01:23.045123456Z", "2014-10-02T15:01:23", "message.android.notification.event_time"),
        (#""notification_count":3"#, #""notification_count":3.5"#, "message.android.notification.notification_count"),
        (#""notification_count":3"#, #""notification_count":"many""#, "message.android.notification.notification_count"),
        (#""notification_count":3"#, #""notification_count":2147483648"#, "message.android.notification.notification_count"),
        (#""red":1"#, #""red":"a lot""#, "message.android.notification.light_settings.color.red"),
        (#""red":1"#, #""pink":1"#, "message.android.notification.light_settings.color"),
        (#""light_on_duration":"1s""#, #""light_on_duration":1"#, "message.android.notification.light_settings.light_on_duration"),
        (#""body_loc_args":["a"]"#, #""body_loc_args":[1]"#, "message.android.notification.body_loc_args[0]"),
        (#"{"apns-priority":"10"}"#, #"{"apns-priority":10}"#, "message.apns.headers[apns-priority]"),
        (#"{"TTL":"60"}"#, #"{"TTL":null}"#, "message.webpush.headers[TTL]"),
        (#"{"title":"T","badge":null}"#, #""T""#, "message.webpush.notification"),
        (#""live_activity_token":"t""#, #""live_activity_token":{}"#, "message.apns.live_activity_token"),
        (#""fcm_options":{"analytics_label":"a","image":"i"}"#, #""fcm_options":{"link":"i"}"#, "message.apns.fcm_options"),
    ])
    func `a value of the wrong kind for its field is refused`(form: String, change: String, name: String) async throws {
        let message = Self.good.replacing(form, with: change)
        #expect(message != Self.good)
        let reply = try await FCMBench().send(message)
        #expect(reply.kind == Self.schema && reply.text.contains("\"field\":\"\(name)"), "\(reply.text)")
    }

    @Test(arguments: [
        ("#00fFa9", "#00fFa", "message.android.notification.color"), ("#00fFa9", "red", "message.android.notification.color"),
        ("#00fFa9", "#00fFag", "message.android.notification.color"),
        ("HTTPS://example.com/", "http://example.com/", "message.webpush.fcm_options.link"),
        ("a-Z_0.~%", "two words", "message.android.fcm_options.analytics_label"),
        ("a-Z_0.~%", "", "message.android.fcm_options.analytics_label"),
        ("a-Z_0.~%", String(repeating: "x", count: 51), "message.android.fcm_options.analytics_label"),
        (#""analytics_label":"a","image""#, #""analytics_label":"ä","image""#, "message.apns.fcm_options.analytics_label"),
        (#""HTTPS://example.com/","analytics_label":"a""#, #""https://a/","analytics_label":"/""#, "message.webpush.fcm_options"),
        (#"{"apns-priority":"10"}"#, #"{"apns-priority":"7"}"#, "message.apns.headers"),
        (#"{"alert":null}"#, #"{"alert":"\#(String(repeating: "x", count: 4096))"}"#, "message.apns.payload"),
        (#"{"title":"T","badge":null}"#, #"{"title":"\#(String(repeating: "x", count: 4096))"}"#, "message.webpush"),
    ])
    func `a value that Google's service refuses is refused`(form: String, change: String, name: String) async throws {
        let message = Self.good.replacing(form, with: change)
        #expect(message != Self.good)
        let reply = try await FCMBench().send(message)
        #expect(reply.kind == Self.field && reply.text.contains("\"field\":\"\(name)"), "\(reply.text)")
    }

    @Test func `the label of the message itself is checked too`() async throws {
        #expect(try await FCMBench().send(#""fcmOptions":{"analyticsLabel":"a b"}"#).kind == Self.field)
    }

    @Test func `payloads for Apple devices and browsers may have 4096 bytes`() async throws {
        let bench = FCMBench()
        func text(_ size: Int) -> String { String(repeating: "x", count: size) }
        #expect(try await bench.send(#""apns":{"payload":{"aps":"\#(text(4086))"}}"#).kind == "200")
        #expect(try await bench.send(#""apns":{"payload":{"aps":"\#(text(4087))"}}"#).kind == Self.field)
        #expect(try await bench.send(#""webpush":{"data":{"k":"\#(text(4080))"},"notification":{}}"#).kind == "200")
        #expect(try await bench.send(#""webpush":{"data":{"k":"\#(text(4087))"},"notification":{}}"#).kind == Self.field)
    }

    @Test(arguments: [
        ("2014-10-02T15:01:23.045123456Z", "2016-02-29T23:59:59+05:30"), (#""notification_count":3"#, #""notification_count":"3""#),
        ("SECRET", "public"), (#""visibility":"SECRET""#, #""visibility":1"#), (#""red":1"#, #""red":"0.25""#),
        (##""color":"#00fFa9""##, #""color":null"#), (#""webpush":{"#, #""webpush":null,"webpush":{"#), (#"["3.5s","1s"]"#, #""1s""#),
    ])
    func `everything that the JSON form of protocol buffers allows is accepted`(form: String, change: String) async throws {
        let message = Self.good.replacing(form, with: change)
        #expect(message != Self.good)
        let reply = try await FCMBench().send(message)
        #expect(reply.kind == "200", "\(reply.text)")
    }

    @Test func `fields may be in camel case, and the phone sees one form, with the sender's own names unchanged`() async throws {
        let bench = FCMBench()
        bench.lab.setHandlesPushes(true, of: bench.phone)
        let fields = #"""
            "data":{"someKey":"v","other_key":"w"},"notification":null,
            "android":{"collapseKey":"k","ttl":null,"directBootOk":"false","priority":"high"},
            "apns":{"headers":{"apns-collapse-id":"xY"},"payload":{"aps":{"mutableContent":null}}},
            "webpush":{"data":{"aB":"c"},"notification":{"requireInteraction":true},"fcmOptions":{"link":"https://example.com/"}},
            "fcmOptions":{"analyticsLabel":"label"}
            """#
        #expect(try await bench.send(fields, around: #","validateOnly":false"#).kind == "200")
        let delivery = try #require(await bench.lab.nextDelivery(for: bench.phone))
        #expect(
            String(decoding: delivery.data, as: UTF8.self)
                == #"{"data":{"someKey":"v","other_key":"w"},"#
                + #""android":{"collapse_key":"k","direct_boot_ok":false,"priority":"HIGH"},"#
                + #""apns":{"headers":{"apns-collapse-id":"xY"},"payload":{"aps":{"mutableContent":null}}},"#
                + #""webpush":{"data":{"aB":"c"},"notification":{"requireInteraction":true},"fcm_options":{"link":"https://example.com/"}},"#
                + #""fcm_options":{"analytics_label":"label"}}"#)
    }

    @Test func `camel case has the same meaning as snake case`() async throws {
        let bench = FCMBench()
        let fields = #""android":{"notification":{"titleLocKey":"k","clickAction":"open","notificationCount":4,"tag":null}}"#
        #expect(try await bench.send(fields, around: #","validateOnly":true"#).member("name")?.hasSuffix("/fake_message_id") == true)
        #expect(bench.lab.inbox(of: bench.phone).isEmpty)
        #expect(try await bench.send(fields, around: #","validateOnly":null"#).kind == "200")
        #expect(bench.lab.inbox(of: bench.phone).count == 1 && bench.lab.badge(of: bench.phone) == "4")
        let other = #""notification":{"title":"T"},"android":{"restrictedPackageName":"com.other"}"#
        #expect(try await bench.send(other).kind == "200")
        #expect(bench.lab.inbox(of: bench.phone).count == 1)
    }

    @Test(arguments: [
        #""android":{"collapseKey":"k","collapse_key":"k"}"#, #""fcm_options":{},"fcmOptions":{}"#,
        #""android":{"Collapse_key":"k"}"#, #""android":{"notification":{"bodyLoc_key":"k"}}"#, #""android":{"TTL":"1s"}"#,
        #""colour":null"#,
    ])
    func `both spellings of a field at once, and mixed spellings, are refused`(fields: String) async throws {
        #expect(try await FCMBench().send(fields).kind == Self.schema)
    }

    @Test func `null means that the field is absent`() async throws {
        let bench = FCMBench()
        #expect(try await bench.send(target: #""token":null"#).kind == Self.field)
        #expect(try await bench.send(target: #""topic":null,"token":"\#(bench.handle)""#).kind == "200")
        #expect(try await bench.send(body: #"{"message":null}"#).kind == Self.field)
        #expect(try await bench.send(#""android":{"collapse_key":"k","collapseKey":null}"#).kind == "200")
    }

    @Test(arguments: [
        "alt=json", "prettyPrint=false", "key=AIza", "fields=name&quotaUser=me&uploadType=media&upload_protocol=raw&callback=f",
        "$.xgafv=2", "%24alt=json%3Benum-encoding%3Dint", "",
    ])
    func `parameters common to all of Google's APIs are accepted`(query: String) async throws {
        #expect(try await FCMBench().send { $0.path? += "?\(query)" }.kind == "200")
    }

    @Test func `another parameter is refused, after the access token and the path`() async throws {
        let bench = FCMBench()
        let reply = try await bench.send { $0.path? += "?alt=json&foo=1" }
        #expect(reply.kind == Self.schema)
        #expect(
            reply.member("error")?.isEmpty != true
                && reply.text.contains(
                    #"Unknown name \"foo\": Cannot bind query parameter. Field 'foo' could not be found in request message."#)
        )
        #expect(bench.lab.inbox(of: bench.phone).isEmpty)
        #expect(try await bench.send { $0.path = "/v1/projects/other/messages:send?foo=1" }.kind == "404 NOT_FOUND")
        let bare = try await bench.send { request in
            request.path? += "?foo=1"
            request.set("authorization", nil)
        }
        #expect(bare.kind == "401 UNAUTHENTICATED")
    }

    @Test(arguments: ["access_token", "oauth_token"])
    func `the access token may be a parameter`(name: String) async throws {
        let bench = FCMBench()
        let token = try await bench.accessToken()
        func send(_ token: String) async throws -> Reply {
            try await bench.send { request in
                request.path? += "?\(name)=\(token)"
                request.set("authorization", nil)
            }
        }
        #expect(try await send(token).kind == "200")
        #expect(try await send("ya29.x").kind == "401 UNAUTHENTICATED")
    }
}
