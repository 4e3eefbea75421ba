import PushModel
import Synchronization

/// Records received webhooks. Accepted ones are stored, so that they are rejected after a restart too. Webhooks in progress are known only
/// to this process, so that one interrupted by a crash can be sent again.
final class WebhookReceipts: Sendable {
    private let spaces: any KeyValueSpaces
    private let known = Mutex<[Message: ReceiptState]>([:])

    private enum ReceiptState {
        case inFlight
        /// Accepted, but this could not be stored.
        case accepted(until: Timestamp)
    }

    fileprivate struct Message: Hashable {
        let space: String
        let name: String
    }

    /// The exclusive right to process a message.
    struct Receipt: Sendable {
        fileprivate let message: Message
        fileprivate let version: Int64
        fileprivate let end: Timestamp
    }

    private static let beginning = "under way"

    init(_ spaces: any KeyValueSpaces) { self.spaces = spaces }

    /// Records that a webhook has begun. Throws `webhook.under_way` (503) while the same one is running, `webhook.replayed` (409) if it was
    /// accepted before.
    ///
    /// - Parameters:
    ///   - name: The name under which the message is remembered.
    ///   - end: When the message may be forgotten.
    func begin(_ name: String, of plugin: String, until end: Timestamp, now: Timestamp) async throws(PushError) -> Receipt {
        let message = Message(space: "webhook:\(plugin)", name: name)
        switch begin(message, now: now) {
        case nil: break
        case .accepted: throw Self.replayed
        case .inFlight:
            // The first attempt may still fail, and then the sender has to repeat it.
            throw PushError(
                "webhook.under_way", "this webhook was received before and is still being processed", hint: "send it again later",
                status: 503, isRetryable: true, details: ["retryAfter": 5])
        }
        do throws(PushError) {
            let space = spaces.space(message.space)
            let known = try await space.value(name, now: now)
            if let known, known.value != .string(Self.beginning) { throw Self.replayed }
            let condition = known.map { KeyValueCondition.version($0.version) } ?? .absent
            let put = try await space.put(.string(Self.beginning), for: name, expires: end, if: condition, now: now)
            guard case .stored(let version) = put else { throw Self.replayed }
            return Receipt(message: message, version: version, end: end)
        } catch {
            forget(message)
            throw error
        }
    }

    private static let replayed = PushError(
        "webhook.replayed", "this webhook was received before and accepted", hint: "do not send it again", status: 409)

    /// The state of a known message; nil for a new one, which is then marked as under way.
    private func begin(_ message: Message, now: Timestamp) -> ReceiptState? {
        known.withLock { known in
            let current = known[message]
            if case .accepted(let end) = current, end > now { return current }
            if case .inFlight = current { return current }
            known[message] = .inFlight
            return nil
        }
    }

    /// Records that the message was accepted. If that cannot be stored, this process still remembers it.
    func accept(_ receipt: Receipt, now: Timestamp) async throws(PushError) {
        let space = spaces.space(receipt.message.space)
        do throws(PushError) {
            _ = try await space.put(
                .string(now.description), for: receipt.message.name, expires: receipt.end, if: .version(receipt.version), now: now)
            forget(receipt.message)
        } catch {
            known.withLock { known in
                known = known.filter { if case .accepted(let end) = $1 { end > now } else { true } }
                known[receipt.message] = .accepted(until: receipt.end)
            }
            throw error
        }
    }

    /// Records that the message failed, so that it can be sent again.
    func release(_ receipt: Receipt, now: Timestamp) async throws(PushError) {
        defer { forget(receipt.message) }
        _ = try await spaces.space(receipt.message.space).remove(receipt.message.name, if: .version(receipt.version), now: now)
    }

    private func forget(_ message: Message) { known.withLock { $0[message] = nil } }
}
