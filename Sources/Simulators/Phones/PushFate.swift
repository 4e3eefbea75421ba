import Synchronization

/// What became of a push on a phone, and how the phone stands. Moments are milliseconds since 1970.
package struct PushFate: Sendable, Equatable {
    /// Why one that was delivered is not shown.
    package enum Silence: Sendable, Equatable {
        case leftToApp
        case background
        case noText
    }

    /// Why a push was lost.
    package enum Loss: Sendable, Equatable {
        case appClosed
        case appUninstalled
        /// The phone was away, and the push may not wait.
        case unreachable
        case other

        /// - Parameter reason: that of `PhoneEvent.Kind.dropped`.
        package init(reason: String) {
            switch reason {
            case Phone.closedApp: self = .appClosed
            case Phone.uninstalledApp: self = .appUninstalled
            case _ where reason.hasSuffix(Phone.mayNotWait): self = .unreachable
            default: self = .other
            }
        }
    }

    package var phone: String
    /// Of the push, in order; those that are not forgotten.
    package var events: [PhoneEvent]
    package var silence: Silence?
    /// When the app showed something of its own behind it.
    package var shownByApp: Int64?
    package var offlineSince: Int64?
    package var lowPowerSince: Int64?
    package var closedSince: Int64?
    package var uninstalledSince: Int64?
}

extension PhoneLab {
    /// Nil where no phone has or had the handle.
    ///
    /// - Parameter push: its id, as `InboxItem.id`; nil asks for the phone alone.
    package func fate(of push: String?, onHandle handle: String) -> PushFate? {
        state.withLock { state in
            guard let phone = state.handles[handle].flatMap({ state.phones[$0.phone] }) else { return nil }
            return phone.fate(of: push)
        }
    }

    /// Those that a phone has or had, what it has now first, then the latest; of a browser those that it had before are not told. None
    /// where there is no phone of that name.
    package func handles(ofPhoneNamed name: String) -> [(platform: PhonePlatform, text: String)] {
        state.withLock { state in
            guard let id = state.names[name], let phone = state.phones[id] else { return [] }
            let platform = phone.description.platform
            let retired = state.handles.filter { $0.value.phone == id && $0.value.retiredAt != nil && platform != .browser }
            let before = retired.sorted { ($0.value.issuedAt, $0.key) > ($1.value.issuedAt, $1.key) }.map(\.key)
            return ([phone.handle?.text].compactMap { $0 } + before).map { (platform, $0) }
        }
    }

    /// In the order of the alphabet.
    package var names: [String] { state.withLock { $0.names.keys.sorted() } }
}

extension Phone {
    func fate(of push: String?) -> PushFate {
        var fate = PushFate(
            phone: description.name, events: push.map { push in history.filter { $0.push == push } } ?? [], offlineSince: offlineSince,
            lowPowerSince: lowPowerSince, closedSince: closedSince, uninstalledSince: uninstalledSince)
        guard let push, let item = inbox.last(where: { $0.id == push }) else { return fate }
        if !item.isShown {
            switch item.reasonNotShown {
            case Self.leftToApp: fate.silence = .leftToApp
            case Self.backgroundPush: fate.silence = .background
            default: fate.silence = .noText
            }
        }
        fate.shownByApp = inbox.first { $0.source == .local && $0.receivedAt >= item.receivedAt }?.receivedAt
        return fate
    }
}
