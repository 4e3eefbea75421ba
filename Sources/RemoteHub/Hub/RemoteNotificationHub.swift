import HubWire
import NIOHTTP1
import PushCore
import Synchronization

/// A hub of another machine, through the interface of Azure Notification Hubs: Azure's own, or a PushHost.
///
/// Errors of the hub come with its own codes where it is a PushHost; else by what their status means in this interface. Beside those
/// of ``HubGateway``: `target.unreachable`, `target.timeout`, `target.throttled`, `target.failed`, `target.refused`, `target.key`,
/// `target.clock`.
package struct RemoteNotificationHub: HubGateway {
    package let address: HubAddress
    let client: RemoteClient
    /// Of the run, on which outcomes are waited for.
    let clock: any HubClock
    let options: Options
    let seen = SeenHandles()

    package struct Options: Sendable {
        /// Whether the hub honours `Idempotency-Key` and has the JSON interface beside Azure's.
        package var isPushHost: Bool
        /// Whether sends go through that interface, too: one request for all platforms, and one id.
        package var sendsAtOnce: Bool
        /// How long to wait for the outcome of a send; nil waits to the end.
        package var patience: Duration?
        /// Lets what is under way at the hub finish, where time stands still meanwhile.
        package var settle: @Sendable () async throws(PushError) -> Void

        package init(
            isPushHost: Bool, sendsAtOnce: Bool = false, patience: Duration? = .seconds(10),
            settle: @escaping @Sendable () async throws(PushError) -> Void = {}
        ) {
            self.isPushHost = isPushHost
            self.sendsAtOnce = sendsAtOnce
            self.patience = patience
            self.settle = settle
        }
    }

    package init(address: HubAddress, client: RemoteClient, clock: any HubClock, options: Options) {
        self.address = address
        self.client = client
        self.clock = clock
        self.options = options
    }

    /// Handles of registrations that have passed by: a hub tells what became of a registration by its id.
    final class SeenHandles: Sendable {
        private let handles = Mutex<[RegistrationID: DeviceHandle]>([:])

        func note(_ registration: Registration) { handles.withLock { $0[registration.id] = registration.handle } }
        subscript(id: RegistrationID) -> DeviceHandle? { handles.withLock { $0[id] } }
    }

    /// Told of a registration that came about on another way, through the app backend.
    package func note(_ registration: Registration) { seen.note(registration) }

    // MARK: - Requests

    /// - Parameters:
    ///   - place: below the hub, encoded.
    ///   - query: beginning with `&`.
    func ask(
        _ method: HTTPMethod, _ place: String, _ query: String = "", _ headers: HTTPHeaders = [:], _ body: [UInt8] = [],
        isRepeatable: Bool = true, isSingular: Bool = false
    ) async throws(PushError) -> RemoteAnswer {
        var request = RemoteRequest(
            method, address.url(place, query), headers: headers, body: body, isRepeatable: isRepeatable, isSingular: isSingular)
        request.headers.add(name: "Accept", value: "application/problem+json, application/atom+xml, application/json, */*;q=0.1")
        do throws(PushError) {
            return try await client.answer(request) { request in
                request.headers.replaceOrAdd(name: "Authorization", value: address.token(now: client.clock.now))
            }
        } catch {
            throw explained(error, method, place, isOfOne: headers.contains(name: "If-Match"))
        }
    }

    /// With what may be wrong about the hub: its name, and its keys, which are its own.
    /// - Parameter isOfOne: whether what is asked for must be there already.
    func explained(_ error: PushError, _ method: HTTPMethod, _ place: String, isOfOne: Bool = false) -> PushError {
        switch error.code {
        case "sas.signature", "target.key":
            var error = error
            error.hint = "\(error.hint.map { "\($0); " } ?? "")is \"\(address.hub)\" the right hub?"
            return error
        // What is asked for here is nothing in the hub that might be missing.
        case "hub.not_found" where !isOfOne && (method == .POST || method == .PUT || place.hasSuffix("registrations")):
            return Self.missing(address.hub, at: address.host, error)
        default: return error
        }
    }

    /// - Parameter others: the hubs that there are, where that is known.
    package static func missing(_ hub: String, at host: String, others: [String] = [], _ error: PushError? = nil) -> PushError {
        let near = nearest(hub, in: others).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError(
            "target.hub", "\(host) has no hub \"\(hub)\"\(near)",
            hint: others.isEmpty
                ? "check its name: --hub, or EntityPath in the connection string" : "there is \(others.joined(separator: ", "))",
            status: 404, trackingID: error?.trackingID)
    }

    static let entry: HTTPHeaders = ["Content-Type": "application/atom+xml;type=entry;charset=utf-8"]

    /// - Parameter isSent: whether what was asked for has been done all the same.
    func unreadable(_ what: String, isSent: Bool = false) -> PushError {
        PushError(
            "target.answer", "the answer of \(address.host) \(what)",
            hint: isSent
                ? "it has been taken: look before sending it again" : "is it a notification hub? Check the connection string",
            details: isSent ? ["may_be_done": true] : [:])
    }
}
