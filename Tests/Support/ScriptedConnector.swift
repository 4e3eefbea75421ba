package import PushModel
import Synchronization

/// A connector with scripted verdicts for each handle, which records every batch.
package final class ScriptedConnector: Connector {
    /// A batch and the time it arrived.
    package struct ReceivedBatch: Sendable {
        package let time: Timestamp
        package let batch: DeliveryBatch
    }

    private struct State {
        var verdicts: [DeviceHandle: [Verdict]] = [:]
        var deliveries: [ReceivedBatch] = []
        var accepted = 0
        var isSilent = false
        var interlude: (@Sendable (DeliveryBatch) async -> Void)?
    }

    package let platforms: Set<Platform>
    private let clock: any HubClock
    private let state = Mutex(State())

    package init(clock: any HubClock, platforms: Set<Platform> = Set(Platform.delivered)) {
        self.clock = clock
        self.platforms = platforms
    }

    /// Sets the verdicts for a handle, one per attempt; the last one repeats. Without a script a push is accepted.
    package func script(_ handle: DeviceHandle, _ verdicts: Verdict...) {
        state.withLock { $0.verdicts[handle] = verdicts }
    }

    /// Returns no verdicts from now on, which violates the contract.
    package func fallSilent() {
        state.withLock { $0.isSilent = true }
    }

    /// Sets code that runs while a batch is in flight.
    package func during(_ interlude: @escaping @Sendable (DeliveryBatch) async -> Void) {
        state.withLock { $0.interlude = interlude }
    }

    package var deliveries: [ReceivedBatch] { state.withLock { $0.deliveries } }
    package var batches: [DeliveryBatch] { deliveries.map(\.batch) }
    /// The bodies of the batches as text, in order of arrival.
    package var bodies: [String] { batches.map { String(decoding: $0.body, as: UTF8.self) } }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let now = clock.now
        let interlude = state.withLock { state in
            state.deliveries.append(ReceivedBatch(time: now, batch: batch))
            return state.interlude
        }
        await interlude?(batch)
        return state.withLock { state in
            guard !state.isSilent else { return [] }
            return batch.handles.map { handle in
                if let next = state.verdicts[handle]?.first {
                    if state.verdicts[handle]?.count ?? 0 > 1 { state.verdicts[handle]?.removeFirst() }
                    return next
                }
                state.accepted += 1
                return .accepted(id: "push-\(state.accepted)")
            }
        }
    }
}

extension Rejection {
    /// The push service reports an invalid token.
    package static func invalidHandle(
        _ reason: String = "Unregistered", status: Int = 410, since: Timestamp? = nil
    ) -> Rejection {
        Rejection(
            status: status, reason: reason, explanation: "the app is gone from the device", outcome: .expiredChannel,
            handleFault: .invalid(since: since))
    }

    /// The device has received too many pushes.
    package static let tooMany = Rejection(
        status: 429, reason: "TooManyRequests", explanation: "too many to this device", outcome: .throttled)

    /// The service rejects the hub's credential for now.
    package static let blocked = Rejection(
        status: 429, reason: "TooManyProviderTokenUpdates", explanation: "too many tokens", outcome: .throttled, isCredentialBlocked: true)

    package static let busy = Rejection(
        status: 503, reason: "ServiceUnavailable", explanation: "the service is busy", outcome: .pnsUnavailable)
}
