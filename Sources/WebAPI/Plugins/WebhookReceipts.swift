import PushCore
import Synchronization

/// Which webhooks have come. What was taken is kept, so that no restart lets one in twice; what is under way is known to the process that
/// runs it, so that one that was killed meanwhile lets it in again.
final class WebhookReceipts: Sendable {
    private let spaces: any KeyValueSpaces
    private let known = Mutex<[Message: Standing]>([:])

    private enum Standing {
        case underWay
        /// That it was taken could not be kept.
        case taken(until: Timestamp)
    }

    fileprivate struct Message: Hashable {
        let space: String
        let name: String
    }

    /// A message that its webhook has now, and nobody else.
    struct Receipt: Sendable {
        fileprivate let message: Message
        fileprivate let version: Int64
        fileprivate let end: Timestamp
    }

    private static let beginning = "under way"

    init(_ spaces: any KeyValueSpaces) { self.spaces = spaces }

    /// Keeps that a webhook has begun. Throws `webhook.under_way` (503) while the same one runs, and `webhook.replayed` (409) where it was
    /// taken before.
    ///
    /// - Parameters:
    ///   - name: what the message is known by.
    ///   - end: when it need not be known any more.
    func begin(_ name: String, of plugin: String, until end: Timestamp, now: Timestamp) async throws(PushError) -> Receipt {
        let message = Message(space: "webhook:\(plugin)", name: name)
        switch begin(message, now: now) {
        case nil: break
        case .taken: throw Self.replayed
        case .underWay:
            // The first one may fail yet, and then somebody has to send it again.
            throw PushError(
                "webhook.under_way", "this webhook has come before, and is still being answered", hint: "send it again a little later",
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
        "webhook.replayed", "this webhook has come before, and was taken", hint: "nothing is to be done; do not send it again", status: 409)

    /// How it stands with a message that has come before; nil of a new one, which is under way from now on.
    private func begin(_ message: Message, now: Timestamp) -> Standing? {
        known.withLock { known in
            let standing = known[message]
            if case .taken(let end) = standing, end > now { return standing }
            if case .underWay = standing { return standing }
            known[message] = .underWay
            return nil
        }
    }

    /// It was answered, and is not taken again. Where that cannot be kept, this process knows it all the same.
    func take(_ receipt: Receipt, now: Timestamp) async throws(PushError) {
        let space = spaces.space(receipt.message.space)
        do throws(PushError) {
            _ = try await space.put(
                .string(now.description), for: receipt.message.name, expires: receipt.end, if: .version(receipt.version), now: now)
            forget(receipt.message)
        } catch {
            known.withLock { known in
                known = known.filter { if case .taken(let end) = $1 { end > now } else { true } }
                known[receipt.message] = .taken(until: receipt.end)
            }
            throw error
        }
    }

    /// It failed, and may come once more.
    func giveBack(_ receipt: Receipt, now: Timestamp) async throws(PushError) {
        defer { forget(receipt.message) }
        _ = try await spaces.space(receipt.message.space).remove(receipt.message.name, if: .version(receipt.version), now: now)
    }

    private func forget(_ message: Message) { known.withLock { $0[message] = nil } }
}
