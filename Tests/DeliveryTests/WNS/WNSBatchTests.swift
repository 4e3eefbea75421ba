import HTTPTypes
import PushModel
import Synchronization
import Testing

@testable import Delivery

/// The channels of one batch, of which a limited number exchange at a time.
@Suite struct WNSBatchTests {
    private static func channels(_ count: Int) -> [String] {
        (0..<count).map { "https://db5.notify.windows.com/?token=AwYAAAB\($0)" }
    }

    private static func connector(_ transport: any PushTransport, width: Int) throws -> WNSConnector {
        try WNSConnector(settings: Accounts.wns, transport: transport, width: width, clock: VirtualClock(now: Accounts.start))
    }

    /// Answers a message once this many have arrived.
    private final class Crowded: PushTransport {
        private struct State {
            var waiting: [CheckedContinuation<Void, Never>] = []
            var most = 0
        }

        private let size: Int
        private let state = Mutex(State())

        init(size: Int) { self.size = size }

        var most: Int { state.withLock { $0.most } }

        func destination(of authority: String) -> String { authority }

        func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
            if request.headerFields[.contentType] == FormBody.contentType {
                return PushResponse(status: .ok, body: Array(ScriptedTransport.grantedToken.utf8))
            }
            await withCheckedContinuation { continuation in
                let released = state.withLock { state in
                    state.waiting.append(continuation)
                    state.most = max(state.most, state.waiting.count)
                    guard state.waiting.count == size else { return [CheckedContinuation<Void, Never>]() }
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for one in released { one.resume() }
            }
            return PushResponse(status: .ok)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `exchanges in flight are limited by the connector's width`() async throws {
        let transport = Crowded(size: 8)
        let verdicts = await (try Self.connector(transport, width: 8)).deliver(.wns(channels: Self.channels(64)))
        #expect(verdicts == Array(repeating: .accepted(id: nil), count: 64))
        #expect(transport.most == 8)
    }

    @Test func `a blocked domain ends the batch, and every device has that verdict`() async throws {
        let blocked = ScriptedTransport.Step.answer(410, ["X-WNS-Error-Description": "The cloud service domain is blocked"])
        let transport = ScriptedTransport([.answer(200), blocked])
        let verdicts = await (try Self.connector(transport, width: 1)).deliver(.wns(channels: Self.channels(5)))
        #expect(transport.pushes.count == 2)
        #expect(verdicts[0] == .accepted(id: nil))
        #expect(verdicts[1...].allSatisfy { $0.rejection?.reason == "DomainBlocked" && $0.rejection?.isHandleInvalid == false })
    }

    @Test func `an expired channel does not end the batch`() async throws {
        let transport = ScriptedTransport([.answer(410)])
        let verdicts = await (try Self.connector(transport, width: 1)).deliver(.wns(channels: Self.channels(3)))
        #expect(verdicts.map { $0.rejection?.reason } == ["ChannelExpired", nil, nil])
        #expect(transport.pushes.count == 3)
    }
}
