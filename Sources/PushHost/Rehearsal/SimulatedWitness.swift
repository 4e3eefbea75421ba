import PushCore
import Simulators

/// Simulated phones as the hub's witness of what becomes of pushes.
struct SimulatedWitness: PhoneWitness {
    let phones: PhoneLab

    func fate(of push: String?, at handle: DeviceHandle) async -> PhoneFate? {
        // Services tell device tokens in lower case.
        let address = handle.platform == .apns ? handle.text.lowercased() : handle.text
        return phones.fate(of: push.map { OutcomeProbe.pushKey($0) }, onHandle: address).map { PhoneFate($0) }
    }

    func handles(ofPhone name: String) async -> [DeviceHandle] {
        phones.handles(ofPhoneNamed: name).flatMap { platform, text in
            // Legacy registrations have the same tokens.
            (platform == .fcm ? [.fcmV1, .gcm] : [Platform(platform)]).compactMap { try? DeviceHandle(platform: $0, text: text) }
        }
    }

    func phoneNames() async -> [String] { phones.names }
}

extension PhoneFate {
    init(_ fate: PushFate) {
        self.init(
            phone: fate.phone, events: fate.events.map { Event($0) }, silence: fate.silence.map { Silence($0) },
            shownByApp: fate.shownByApp.map { Timestamp(milliseconds: $0) },
            offlineSince: fate.offlineSince.map { Timestamp(milliseconds: $0) },
            savesPowerSince: fate.lowPowerSince.map { Timestamp(milliseconds: $0) },
            closedSince: fate.closedSince.map { Timestamp(milliseconds: $0) },
            uninstalledSince: fate.uninstalledSince.map { Timestamp(milliseconds: $0) })
    }
}

extension PhoneFate.Silence {
    fileprivate init(_ silence: PushFate.Silence) {
        switch silence {
        case .leftToApp: self = .leftToApp
        case .background: self = .background
        case .noText: self = .noText
        }
    }
}

extension PhoneFate.Event {
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
                switch PushFate.Loss(reason: reason) {
                case .appClosed: .appClosed
                case .appUninstalled: .appUninstalled
                case .unreachable: .unreachable
                case .other: .dropped(reason)
                }
            }
        self.init(time: Timestamp(milliseconds: event.time), kind: kind)
    }
}
