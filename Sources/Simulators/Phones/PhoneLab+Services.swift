import Synchronization

/// The lab's interface to the push services.
extension PhoneLab {
    func record(of handle: String) -> HandleRecord? { state.withLock { $0.handles[handle] } }

    /// The registration token of an FCM app by its installation id, which is the first part of the token.
    func token(ofInstallation id: String) -> String? { state.withLock { $0.installations[id] } }

    /// The subscription of a browser's app; `nil` if its keys are unknown, or for another platform.
    func subscription(of phone: PhoneID) -> WebPushSubscription? {
        state.withLock { state in state.phones[phone]?.handle.flatMap { state.handles[$0.address]?.subscription } }
    }

    /// FCM apps of a project with their topics, in the order in which the phones were added.
    func subscribers(project: String) -> [(phone: PhoneID, topics: Set<String>)] {
        state.withLock { state in
            state.phones.values
                .filter {
                    $0.description.platform == .fcm && $0.handle != nil
                        && ($0.description.project ?? project) == project
                }
                .sorted { $0.id < $1.id }.map { ($0.id, $0.topics) }
        }
    }

    /// iPhones whose app has subscribed to a broadcast channel, in the order in which they were added.
    func subscribers(channel: String, app: String, environment: APNsEnvironment) -> [PhoneID] {
        state.withLock { state in
            state.phones.values
                .filter {
                    $0.description.platform == .apns && $0.handle != nil && $0.description.app == app
                        && $0.description.environment == environment && $0.topics.contains(channel)
                }
                .map(\.id).sorted()
        }
    }

    func accept(_ parcel: AcceptedPush, for phone: PhoneID) {
        change(phone) { phone, now, effects in phone.accept(parcel, now: now, effects: &effects) }
    }
}
