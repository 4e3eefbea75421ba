package import HTTPTypes
package import PushModel
import Synchronization

/// Records every exchange with another transport, with credentials masked.
package final class RecordingTransport: PushTransport, WireTap {
    private struct Record {
        /// A ring buffer; the oldest exchange is at `oldest`.
        var exchanges: [WireExchange] = []
        var oldest = 0
        /// Total number of exchanges.
        var count = 0
    }

    private let base: any PushTransport
    private let clock: any HubClock
    private let service: @Sendable (HTTPRequest) -> Platform
    private let capacity: Int
    private let observer: (@Sendable (WireExchange) -> Void)?
    private let record = Mutex(Record())

    /// Records the latest `capacity` exchanges. `service` returns the service of a request; `observer` is called for each exchange as it
    /// ends.
    package init(
        _ base: any PushTransport, clock: any HubClock, capacity: Int = 10_000,
        observer: (@Sendable (WireExchange) -> Void)? = nil, service: @escaping @Sendable (HTTPRequest) -> Platform
    ) {
        self.base = base
        self.clock = clock
        self.capacity = max(1, capacity)
        self.observer = observer
        self.service = service
    }

    package convenience init(
        _ base: any PushTransport, service: Platform, clock: any HubClock, capacity: Int = 10_000
    ) {
        self.init(base, clock: clock, capacity: capacity) { _ in service }
    }

    package func destination(of authority: String) -> String { base.destination(of: authority) }

    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        let time = clock.now
        do {
            let response = try await base.exchange(request, body: body)
            append(masked(request, body: body, response: response, time: time))
            return response
        } catch {
            append(masked(request, body: body, response: nil, time: time))
            throw error
        }
    }

    package func exchanges(with service: Platform?) -> [WireExchange] {
        let all = record.withLock { Array($0.exchanges[$0.oldest...] + $0.exchanges[..<$0.oldest]) }
        guard let service else { return all }
        return all.filter { $0.service == service }
    }

    /// Total number of exchanges, including those that are no longer stored.
    package var count: Int { record.withLock { $0.count } }

    /// The stored exchanges after the first `count`.
    package func exchanges(with service: Platform?, after count: Int) -> [WireExchange] {
        let newer = record.withLock { record -> [WireExchange] in
            let all = record.exchanges[record.oldest...] + record.exchanges[..<record.oldest]
            return Array(all.suffix(max(0, record.count - count)))
        }
        guard let service else { return newer }
        return newer.filter { $0.service == service }
    }

    private func append(_ exchange: WireExchange) {
        observer?(exchange)
        record.withLock { record in
            record.count += 1
            if record.exchanges.count < capacity {
                record.exchanges.append(exchange)
            } else {
                record.exchanges[record.oldest] = exchange
                record.oldest = (record.oldest + 1) % capacity
            }
        }
    }

    private func masked(
        _ request: HTTPRequest, body: [UInt8], response: PushResponse?, time: Timestamp
    ) -> WireExchange {
        var mask = CredentialMask()
        let requestHeaders = mask.apply(to: request.headerFields)
        let requestBody = mask.applyToRequest(body, contentType: request.headerFields[.contentType])
        let responseBody = mask.applyToResponse(response?.body ?? [])
        let responseHeaders = mask.apply(to: response?.headers ?? HTTPFields())
        return WireExchange(
            service: service(request), time: time,
            request: WireRequest(
                method: request.method.rawValue, authority: request.authority ?? "", path: request.path ?? "", headers: requestHeaders,
                body: requestBody), response: WireResponse(status: response?.status.code ?? 0, headers: responseHeaders, body: responseBody)
        )
    }
}
