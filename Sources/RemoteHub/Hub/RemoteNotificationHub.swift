import HubWire
import NIOHTTP1
import PushModel
import Synchronization

/// A hub on another machine, through the interface of Azure Notification Hubs: Azure itself or a PushHost.
///
/// Errors of a PushHost keep their codes; for other hubs the code follows from the status. In addition to those of ``HubGateway``:
/// `target.unreachable`, `target.timeout`, `target.throttled`, `target.failed`, `target.refused`, `target.key`, `target.clock`.
package struct RemoteNotificationHub: HubGateway {
    package let address: HubAddress
    let client: RemoteClient
    /// The run's clock, on which outcomes are awaited.
    let clock: any HubClock
    let options: Options
    let seen = KnownHandles()

    package struct Options: Sendable {
        /// Whether the hub honours `Idempotency-Key` and has the JSON interface in addition to Azure's.
        package var isPushHost: Bool
        /// Whether sends use the JSON interface too: one request and one id for all platforms.
        package var usesJSONInterface: Bool
        /// Maximum time to wait for the outcome of a send; nil: no limit.
        package var patience: Duration?
        /// Lets the hub finish its work in progress, if time stands still meanwhile.
        package var settle: @Sendable () async throws(PushError) -> Void

        package init(
            isPushHost: Bool, usesJSONInterface: Bool = false, patience: Duration? = .seconds(10),
            settle: @escaping @Sendable () async throws(PushError) -> Void = {}
        ) {
            self.isPushHost = isPushHost
            self.usesJSONInterface = usesJSONInterface
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

    /// Handles of registrations seen so far, by id: a hub reports results by registration id.
    final class KnownHandles: Sendable {
        private let handles = Mutex<[RegistrationID: DeviceHandle]>([:])

        func note(_ registration: Registration) { handles.withLock { $0[registration.id] = registration.handle } }
        subscript(id: RegistrationID) -> DeviceHandle? { handles.withLock { $0[id] } }
    }

    /// Records a registration made in another way, through the app backend.
    package func note(_ registration: Registration) { seen.note(registration) }

    // MARK: - Requests

    /// - Parameters:
    ///   - place: The encoded path below the hub.
    ///   - query: Must begin with `&`.
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

    /// Adds hints about the hub's name and key to an error.
    /// - Parameter isOfOne: Whether the request refers to an object that must exist.
    func explained(_ error: PushError, _ method: HTTPMethod, _ place: String, isOfOne: Bool = false) -> PushError {
        switch error.code {
        case "sas.signature", "target.key":
            var error = error
            error.hint = "\(error.hint.map { "\($0); " } ?? "")is \"\(address.hub)\" the right hub?"
            return error
        // The request does not refer to an object that could be missing, so the hub itself is missing.
        case "hub.not_found" where !isOfOne && (method == .POST || method == .PUT || place.hasSuffix("registrations")):
            return Self.missing(address.hub, at: address.host, error)
        default: return error
        }
    }

    /// - Parameter others: The existing hubs, if known.
    package static func missing(_ hub: String, at host: String, others: [String] = [], _ error: PushError? = nil) -> PushError {
        let near = nearest(hub, in: others).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError(
            "target.hub", "\(host) has no hub \"\(hub)\"\(near)",
            hint: others.isEmpty
                ? "check its name: --hub, or EntityPath in the connection string" : "existing hubs: \(others.joined(separator: ", "))",
            status: 404, trackingID: error?.trackingID)
    }

    static let entry: HTTPHeaders = ["Content-Type": "application/atom+xml;type=entry;charset=utf-8"]

    /// - Parameter isSent: Whether the request has been executed nonetheless.
    func unreadable(_ what: String, isSent: Bool = false) -> PushError {
        PushError(
            "target.answer", "the response of \(address.host) \(what)",
            hint: isSent
                ? "it was accepted: check before sending it again" : "is it a notification hub? Check the connection string",
            details: isSent ? ["may_be_done": true] : [:])
    }
}
