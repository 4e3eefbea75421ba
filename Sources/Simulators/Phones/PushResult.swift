import Synchronization

/// The result of a push on a phone, and the phone's state. Times are milliseconds since 1970.
package struct PushResult: Sendable, Equatable {
    /// The reason why a delivered push is not shown.
    package enum Silence: Sendable, Equatable {
        case leftToApp
        case background
        case noText
    }

    /// The reason why a push was lost.
    package enum Loss: Sendable, Equatable {
        case appClosed
        case appUninstalled
        /// The phone was unreachable, and the push may not be stored.
        case unreachable
        case other

        /// - Parameter reason: The reason of `PhoneEvent.Kind.dropped`.
        package init(reason: String) {
            switch reason {
            case Phone.closedApp: self = .appClosed
            case Phone.uninstalledApp: self = .appUninstalled
            case _ where reason.hasSuffix(Phone.cannotBeStored): self = .unreachable
            default: self = .other
            }
        }
    }

    package var phone: String
    /// The events of the push, in order, as far as they are still stored.
    package var events: [PhoneEvent]
    package var silence: Silence?
    /// When the app later showed an item of its own.
    package var shownByApp: Int64?
    package var offlineSince: Int64?
    package var lowPowerSince: Int64?
    package var closedSince: Int64?
    package var uninstalledSince: Int64?
}

extension PhoneLab {
    /// Returns `nil` if no phone has or had the handle.
    ///
    /// - Parameter push: The push id, as in `InboxItem.id`; `nil` for the phone's state only.
    package func result(of push: String?, onHandle handle: String) -> PushResult? {
        state.withLock { state in
            guard let phone = state.handles[handle].flatMap({ state.phones[$0.phone] }) else { return nil }
            return phone.result(of: push)
        }
    }

    /// The current and previous handles of a phone, latest first; without the previous ones of a browser. Empty if there is no phone with
    /// this name.
    package func handles(ofPhoneNamed name: String) -> [(platform: PhonePlatform, text: String)] {
        state.withLock { state in
            guard let id = state.names[name], let phone = state.phones[id] else { return [] }
            let platform = phone.description.platform
            let retired = state.handles.filter { $0.value.phone == id && $0.value.retiredAt != nil && platform != .browser }
            let before = retired.sorted { ($0.value.issuedAt, $0.key) > ($1.value.issuedAt, $1.key) }.map(\.key)
            return ([phone.handle?.text].compactMap { $0 } + before).map { (platform, $0) }
        }
    }

    /// Sorted alphabetically.
    package var names: [String] { state.withLock { $0.names.keys.sorted() } }
}

extension Phone {
    func result(of push: String?) -> PushResult {
        var result = PushResult(
            phone: description.name, events: push.map { push in history.filter { $0.push == push } } ?? [], offlineSince: offlineSince,
            lowPowerSince: lowPowerSince, closedSince: closedSince, uninstalledSince: uninstalledSince)
        guard let push, let item = inbox.last(where: { $0.id == push }) else { return result }
        if !item.isShown {
            switch item.reasonNotShown {
            case Self.leftToApp: result.silence = .leftToApp
            case Self.backgroundPush: result.silence = .background
            default: result.silence = .noText
            }
        }
        result.shownByApp = inbox.first { $0.source == .local && $0.receivedAt >= item.receivedAt }?.receivedAt
        return result
    }
}
