import NIOCore
import PushModel
import Synchronization

/// The cached text of the metrics. Anyone may request it and generating it takes milliseconds of CPU, so requests within a second share one
/// text.
final class MetricsText: Sendable {
    private struct State {
        var text: ByteBuffer?
        /// When generating the text began.
        var time: Timestamp?
        /// The text being generated.
        var making: Task<ByteBuffer, Never>?
    }

    /// Maximum age of a cached text.
    static let age = Duration.seconds(1)
    /// Expected size in bytes before the first text.
    private static let usualSize = 64 << 10

    private let make: @Sendable () async -> String
    private let state = Mutex(State())

    init(_ make: @escaping @Sendable () async -> String) { self.make = make }

    /// Size of the latest text in bytes.
    var size: Int { state.withLock { $0.text?.readableBytes ?? Self.usualSize } }

    /// Returns a text that is at most ``age`` old.
    func text(now: Timestamp) async -> ByteBuffer {
        enum Source {
            case ready(ByteBuffer)
            case task(Task<ByteBuffer, Never>)
        }
        let source = state.withLock { state -> Source in
            // `time <= now`: a clock that was set back must not extend the cache's life.
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
