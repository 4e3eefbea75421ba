extension DeviceHandle {
    /// Restores a stored handle from its ``text``, without checks. Nil for browser and Baidu handles, which consist of several texts.
    package init?(platform: Platform, unchecked text: String) {
        switch platform {
        case .apns: self = .apns(token: text)
        case .fcmV1: self = .fcmV1(token: text)
        case .gcm: self = .gcm(token: text)
        case .wns: self = .wns(channel: text)
        case .mpns: self = .mpns(channel: text)
        case .adm: self = .adm(token: text)
        case .xiaomi: self = .xiaomi(token: text)
        case .browser, .baidu: return nil
        }
    }
}
