import PushModel
import Support
import Testing

@Suite struct DeviceHandleTests {
    @Test("An APNs token is compared in upper case") func apns() throws {
        let handle = try DeviceHandle(platform: .apns, text: "00ff")
        #expect(handle == .apns(token: "00FF"))
        #expect(try DeviceHandle.apns(token: "00ff").checked() == handle)
    }

    @Test(
        "A handle in another format than its platform's is rejected with the reason",
        arguments: [
            (Platform.apns, "", "APNs handle is empty"),
            (.apns, "abc", "APNs handle is not hexadecimal of even length"),
            (.apns, "xy", "APNs handle is not hexadecimal of even length"),
            (.fcmV1, "a b", "FCM handle has spaces or characters outside ASCII"),
            (.gcm, "ä", "GCM handle has spaces or characters outside ASCII"),
            (.wns, "db5.notify.windows.com", "WNS handle is not a URI"),
            (.wns, "https://a b", "WNS handle is not a URI"),
            (.browser, "https://push.example", "Web Push handle needs endpoint, p256dh and auth"),
            (.browser, "{}", "Web Push handle needs endpoint, p256dh and auth"),
            (.gcm, String(repeating: "a", count: 4097), "GCM handle is longer than 4,096 bytes"),
        ])
    func refused(platform: Platform, text: String, message: String) async {
        let error = await refusal { try DeviceHandle(platform: platform, text: text) }
        #expect(error?.code == "handle.invalid")
        #expect(error?.message == message)
        #expect(error?.status == 400)
        #expect(error?.hint != nil)
    }

    @Test("One token has two handles, one for each interface of FCM") func fcm() throws {
        let token = "fXk:APA91b_-x"
        #expect(try DeviceHandle(platform: .fcmV1, text: token) != DeviceHandle(platform: .gcm, text: token))
        #expect(try DeviceHandle(platform: .gcm, text: token).platform == .gcm)
    }

    @Test("A channel URI can be in any case") func wns() throws {
        let channel = "HTTPS://db5.notify.windows.com/?token=1"
        #expect(try DeviceHandle(platform: .wns, text: channel).text == channel)
    }

    @Test("A browser's subscription is accepted as the browser writes it, flat, or as text") func browser() throws {
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let nested: JSON = [
            "endpoint": .string(endpoint), "keys": ["p256dh": .string(p256dh), "auth": .string(auth + "==")],
        ]
        let flat: JSON = ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
        #expect(try DeviceHandle(subscription: nested) == .subscription)
        #expect(try DeviceHandle(subscription: flat) == .subscription)
        #expect(try DeviceHandle(platform: .browser, text: flat.text()) == .subscription)
        #expect(DeviceHandle.subscription.text == endpoint)
    }

    @Test("The error for a subscription names its invalid part")
    func brokenSubscription() async {
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let broken: [(DeviceHandle, String)] = [
            (.browser(endpoint: "http://push.example", p256dh: p256dh, auth: auth), "endpoint"),
            (.browser(endpoint: endpoint, p256dh: "short", auth: auth), "p256dh"),
            (.browser(endpoint: endpoint, p256dh: p256dh, auth: "*"), "auth"),
        ]
        for (handle, part) in broken {
            let error = await refusal { try handle.checked() }
            #expect(error?.code == "handle.invalid")
            #expect(error?.message.contains(part) == true)
        }
    }

    @Test("A Baidu handle is split once") func baidu() async throws {
        #expect(try DeviceHandle(platform: .baidu, text: "1-2-3") == .baidu(user: "1", channel: "2-3"))
        let handle = DeviceHandle.baidu(user: "1-2", channel: "3")
        #expect(try handle.checked() == handle)
        for text in ["12", "-1", "1-", "1-é"] {
            #expect(await refusal { try DeviceHandle(platform: .baidu, text: text) }?.code == "handle.invalid")
        }
    }

    @Test("A log shows only the start and end of a handle") func abbreviation() {
        let text = DeviceHandle.fcmV1(token: "abcdefghijklmnopqrstuvwxyz").abbreviated
        #expect(text == "abcdef…wxyz")
    }
}
