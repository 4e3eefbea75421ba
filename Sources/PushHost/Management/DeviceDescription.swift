import Crypto
import HubWire
import PushModel

/// A device as the command line or a line of a file describes it.
struct DeviceDescription {
    /// Nil for an id that follows from platform and token.
    var id: String?
    var platform: String
    /// The token, channel URI or, for browsers, the PushSubscription as JSON.
    var token: String
    var user: String?
    var tags: [String] = []
    /// Whether the device gets a template that shows the property `message`, which `pushhost send TEXT` sends.
    var hasTextTemplate = true

    /// The name of the template that shows the property `message`.
    static let textTemplate = "message"

    /// The installation to store. Throws `usage.value` for an unknown platform, and the errors of an invalid token or tag.
    func installation() throws(PushError) -> Installation {
        guard let platform = Platform(name: platform) else {
            throw PushError(
                "usage.value", "unknown platform \"\(platform)\"", hint: "use \(Platform.spellings.alternatives)")
        }
        let handle = try DeviceHandle(platform: platform, text: token)
        let tags = try tags.map { text throws(PushError) in
            do throws(TagError) {
                return try Tag(text)
            } catch {
                throw PushError(error)
            }
        }
        let body = AlertPayloads.template(property: Self.textTemplate, platform: platform)
        return Installation(
            id: id ?? Self.id(of: handle), userID: user, handle: handle, tags: tags,
            templates: hasTextTemplate ? [Self.textTemplate: InstallationTemplate(body: body)] : [:])
    }

    /// An id that is the same whenever the same device is added: a digest of platform and handle.
    private static func id(of handle: DeviceHandle) -> String {
        let digest = SHA256.hash(data: Array("\(handle.platform.shortName):\(handle.text)".utf8))
        let digits = Array("0123456789abcdef".utf8)
        let text = digest.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "d-" + String(decoding: text, as: UTF8.self)
    }
}
