import PushModel
import Support
import Testing

@testable import PushHost

@Suite struct DeviceDescriptionTests {
    private static let token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

    @Test func `a device has its user, its tags and a template that shows the text of a send`() throws {
        let device = DeviceDescription(id: "pad", platform: "ios", token: Self.token, user: "ana", tags: ["sports", "news"])
        let installation = try device.installation()
        #expect(installation.id == "pad" && installation.userID == "ana" && installation.tags.map(\.text) == ["sports", "news"])
        #expect(installation.handle == .apns(token: try DeviceHandle(platform: .apns, text: Self.token).text))
        #expect(installation.templates == ["message": InstallationTemplate(body: #"{"aps":{"alert":"$(message)"}}"#)])
        var plain = device
        plain.hasTextTemplate = false
        #expect(try plain.installation().templates.isEmpty)
    }

    @Test func `an id that is not given follows from platform and token, however the token is written`() throws {
        let lower = try DeviceDescription(platform: "apns", token: Self.token).installation().id
        let upper = try DeviceDescription(platform: "apple", token: Self.token.uppercased()).installation().id
        let other = try DeviceDescription(platform: "fcm", token: Self.token).installation().id
        #expect(lower == upper && lower != other && lower.hasPrefix("d-") && lower.utf8.count == 34)
    }

    @Test(arguments: [
        ("apnz", token, "a", "usage.value"), ("apns", "short", "a", "handle.invalid"), ("apns", token, "a b", "tag.invalid"),
    ])
    func `an unknown platform, an invalid token and an invalid tag are refused`(
        platform: String, token: String, tag: String, code: String
    ) async {
        let error = await refusal { try DeviceDescription(platform: platform, token: token, tags: [tag]).installation() }
        #expect(error?.code == code)
    }
}
