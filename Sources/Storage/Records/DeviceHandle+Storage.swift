import PushModel

extension DeviceHandle {
    /// The handle without its platform, as one text. The parts of a browser subscription or Baidu handle are separated by line feeds, which
    /// no part can contain.
    var storedText: String {
        switch self {
        case .browser(let endpoint, let p256dh, let auth): "\(endpoint)\n\(p256dh)\n\(auth)"
        case .baidu(let user, let channel): "\(user)\n\(channel)"
        default: text
        }
    }

    init(platform: Platform, stored text: String) throws {
        if let handle = DeviceHandle(platform: platform, unchecked: text) {
            self = handle
        } else if platform == .browser {
            let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard lines.count == 3 else { throw UnreadableValue(reason: "a subscription has \(lines.count) lines, not 3") }
            self = .browser(endpoint: lines[0], p256dh: lines[1], auth: lines[2])
        } else {
            let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard lines.count == 2 else { throw UnreadableValue(reason: "a Baidu handle has \(lines.count) lines, not 2") }
            self = .baidu(user: lines[0], channel: lines[1])
        }
    }

    var storedJSON: JSON { [.string(platform.rawValue), .string(storedText)] }

    init(stored json: JSON) throws {
        let (platform, text) = try json.storedPair()
        try self.init(platform: Platform(stored: platform), stored: text)
    }
}
