import HTTPTypes
import PushCore

/// Whose pruned devices an app's backend is told of.
package protocol PrunedSource: Sendable {
    /// Of the hub.
    var name: String { get }
    func untold(limit: Int) async throws(PushError) -> [PrunedDevice]
    func acknowledge(upTo number: Int64) async throws(PushError)
    /// Answers how many are given up.
    func dropUntold(beyond most: Int) async throws(PushError) -> Int
}

/// Tells an app's backend which devices left: each at least once, in order, until it says 2xx. Nobody who sends waits for it.
package actor PrunedWebhook {
    package struct Settings: Sendable {
        package var address: WebAddress
        /// With which requests are signed.
        package var secret: Secret

        package init(address: WebAddress, secret: Secret) { (self.address, self.secret) = (address, secret) }
    }

    package enum News: Sendable, Equatable {
        case told(hub: String, Int)
        /// More have waited than are kept.
        case lost(hub: String, Int)
        /// An attempt failed, why; the next one comes after a pause. The first of a row begins it.
        case failed(String, pause: Duration, isFirst: Bool)
        case worksAgain
        /// After a failure nobody waits any more: the store works again, or those who waited went away with their hub or database.
        case nobodyWaits
    }

    /// Most devices of one request.
    package static let batch = 500
    /// Most devices of a hub that wait.
    package static let mostUntold = 1_000_000
    /// Between two looks for news.
    static let interval: Duration = .seconds(5)
    static let firstPause: Duration = .seconds(1)
    static let longestPause: Duration = .seconds(300)
    /// Where the backend says that the address is gone for good, or asks to be left alone.
    static let hour: Duration = .seconds(3600)

    private let settings: Settings
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource
    private let note: @Sendable (News) -> Void
    private var failures = 0
    private var size = batch

    package init(
        _ settings: Settings, transport: any PushTransport, clock: any HubClock, random: any RandomSource,
        note: @escaping @Sendable (News) -> Void
    ) {
        (self.settings, self.transport, self.clock, self.random, self.note) = (settings, transport, clock, random, note)
    }

    /// Until it is cancelled.
    package func run(_ sources: @Sendable () -> [any PrunedSource]) async {
        while !Task.isCancelled {
            let pause = await tell(sources())
            do { try await clock.sleep(until: clock.now + pause) } catch { return }
        }
    }

    /// Tells all that is to be told. Answers when to come again.
    package func tell(_ sources: [any PrunedSource]) async -> Duration {
        for source in sources {
            do throws(PushError) {
                let lost = try await source.dropUntold(beyond: Self.mostUntold)
                if lost > 0 { note(.lost(hub: source.name, lost)) }
                if let pause = try await tellAll(source) { return pause }
            } catch {
                return pause(after: "\(source.name): \(error.message)")
            }
        }
        if !Task.isCancelled { ended(.nobodyWaits) }
        return Self.interval
    }

    /// A row of failures is over.
    private func ended(_ news: News) {
        if failures > 0 { note(news) }
        failures = 0
    }

    /// Nil where all is told.
    private func tellAll(_ source: any PrunedSource) async throws(PushError) -> Duration? {
        while !Task.isCancelled {
            let devices = try await source.untold(limit: size)
            guard let last = devices.last else { return nil }
            switch await send(PrunedNews(hub: source.name, devices)) {
            case .taken:
                try await source.acknowledge(upTo: last.number)
                note(.told(hub: source.name, devices.count))
                ended(.worksAgain)
            case .tooLarge where devices.count > 1: size = max(1, devices.count / 2)
            case .tooLarge: return pause(after: "413: it takes not even one device at a time")
            // Whoever has cut it off is no trouble of the webhook.
            case .failed where Task.isCancelled: return nil
            case .failed(let why, let asked): return pause(after: why, asked: asked)
            }
        }
        return nil
    }

    private enum Answer {
        case taken
        case tooLarge
        /// With how long to wait at least.
        case failed(String, Duration?)
    }

    private func send(_ news: PrunedNews) async -> Answer {
        let now = clock.now
        do throws(TransportError) {
            let answer = try await transport.exchange(
                news.request(to: settings.address, secret: settings.secret, now: now), body: news.body)
            switch answer.status.code {
            case 200..<300: return .taken
            case 413: return .tooLarge
            case 410: return .failed("410: the address is gone", Self.hour)
            case 300..<400: return .failed("\(answer.status.code): redirects are not followed", nil)
            case let code: return .failed("it answers \(code)", answer.retryAfter(now: now).map { min($0, Self.hour) })
            }
        } catch {
            switch error {
            case .notSent(let why), .unknown(let why): return .failed(why, nil)
            case .forbidden(let why): return .failed(why, Self.hour)
            }
        }
    }

    /// Twice as long after each failure, at random between half of it and the whole.
    private func pause(after why: String, asked: Duration? = nil) -> Duration {
        let whole = min(Self.firstPause * (1 << min(failures, 20)), Self.longestPause).milliseconds
        let pause = max(.milliseconds(whole / 2 + Int64(random.next() % UInt64(whole / 2 + 1))), asked ?? .zero)
        note(.failed(why, pause: pause, isFirst: failures == 0))
        failures += 1
        return pause
    }
}
