import PushModel
import Synchronization

/// Handles of registrations seen so far, by id: a hub reports results by registration id.
final class KnownHandles: Sendable {
    private let handles = Mutex<[RegistrationID: DeviceHandle]>([:])

    func note(_ registration: Registration) { handles.withLock { $0[registration.id] = registration.handle } }
    subscript(id: RegistrationID) -> DeviceHandle? { handles.withLock { $0[id] } }
}
