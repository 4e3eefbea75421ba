import PushModel
import Simulators

/// Reports to the hub what simulated phones did with pushes.
struct SimulatedDeviceObserver: DeviceObserver {
    let phones: PhoneLab

    func result(of push: String?, at handle: DeviceHandle) async -> DeviceResult? {
        // The simulated APNs stores device tokens in lower case.
        let address = handle.platform == .apns ? handle.text.lowercased() : handle.text
        return phones.result(of: push.map { DeviceOutcomeQuery.pushKey($0) }, onHandle: address).map { DeviceResult($0) }
    }

    func handles(ofPhone name: String) async -> [DeviceHandle] {
        phones.handles(ofPhoneNamed: name).flatMap { platform, text in
            // GCM registrations use the same tokens as FCM v1.
            (platform == .fcm ? [.fcmV1, .gcm] : [Platform(platform)]).compactMap { try? DeviceHandle(platform: $0, text: text) }
        }
    }

    func phoneNames() async -> [String] { phones.names }
}

extension DeviceResult {
    init(_ result: PushResult) {
        self.init(
            phone: result.phone, events: result.events.map { Event($0) }, silence: result.silence.map { Silence($0) },
            shownByApp: result.shownByApp.map { Timestamp(milliseconds: $0) },
            offlineSince: result.offlineSince.map { Timestamp(milliseconds: $0) },
            savesPowerSince: result.lowPowerSince.map { Timestamp(milliseconds: $0) },
            closedSince: result.closedSince.map { Timestamp(milliseconds: $0) },
            uninstalledSince: result.uninstalledSince.map { Timestamp(milliseconds: $0) })
    }
}

extension DeviceResult.Silence {
    fileprivate init(_ silence: PushResult.Silence) {
        switch silence {
        case .leftToApp: self = .leftToApp
        case .background: self = .background
        case .noText: self = .noText
        }
    }
}

extension DeviceResult.Event {
    fileprivate init(_ event: PhoneEvent) {
        let kind: Kind =
            switch event.kind {
            case .delivered: .delivered
            case .stored: .stored
            case .deferred: .deferred
            case .replaced(let push): .replaced(by: push)
            case .expired: .expired
            case .shown: .shown
            case .dropped(let reason):
                switch PushResult.Loss(reason: reason) {
                case .appClosed: .appClosed
                case .appUninstalled: .appUninstalled
                case .unreachable: .unreachable
                case .other: .dropped(reason)
                }
            }
        self.init(time: Timestamp(milliseconds: event.time), kind: kind)
    }
}
