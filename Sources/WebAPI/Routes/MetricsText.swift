import NIOCore
import PushCore
import Synchronization

/// The text of the metrics. Anybody may ask for it, and it takes milliseconds of CPU, so that all who ask within a second get the same.
final class MetricsText: Sendable {
    private struct State {
        var text: ByteBuffer?
        /// When it was begun.
        var time: Timestamp?
        /// Being made.
        var making: Task<ByteBuffer, Never>?
    }

    /// The oldest text that is answered.
    static let age = Duration.seconds(1)
    /// Bytes that are expected before it was ever made.
    private static let usualSize = 64 << 10

    private let make: @Sendable () async -> String
    private let state = Mutex(State())

    init(_ make: @escaping @Sendable () async -> String) { self.make = make }

    /// Bytes that it had last.
    var size: Int { state.withLock { $0.text?.readableBytes ?? Self.usualSize } }

    /// At most ``age`` old.
    func text(now: Timestamp) async -> ByteBuffer {
        enum Source {
            case ready(ByteBuffer)
            case task(Task<ByteBuffer, Never>)
        }
        let source = state.withLock { state -> Source in
            // A clock that was set back must not make it last.
            if let time = state.time, time <= now, now < time + Self.age {
                if let making = state.making { return .task(making) }
                if let text = state.text { return .ready(text) }
            }
            let making = Task { [self] in
                let text = ByteBuffer(string: await make())
                self.state.withLock { ($0.text, $0.making) = (text, nil) }
                return text
            }
            (state.making, state.time) = (making, now)
            return .task(making)
        }
        switch source {
        case .ready(let text): return text
        case .task(let task): return await task.value
        }
    }
}
