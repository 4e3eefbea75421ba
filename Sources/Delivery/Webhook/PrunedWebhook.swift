import HTTPTypes
package import PushModel

/// Reports removed devices to an app's backend: each at least once, in order, until the backend answers 2xx. Sends do not wait for it.
package actor PrunedWebhook {
    package struct Settings: Sendable {
        package var address: WebAddress
        /// Signs the requests.
        package var secret: Secret

        package init(address: WebAddress, secret: Secret) { (self.address, self.secret) = (address, secret) }
    }

    package enum Event: Sendable, Equatable {
        case delivered(hub: String, Int)
        /// Devices were dropped because the queue was full.
        case lost(hub: String, Int)
        /// An attempt failed; the next one follows after the pause. `isFirst` marks the first failure in a row.
        case failed(String, pause: Duration, isFirst: Bool)
        case hasRecovered
        /// After a failure, nothing is left to report: the store works again, or the queue was removed with its hub or database.
        case nothingPending
    }

    /// Maximum number of devices per request.
    package static let batch = 500
    /// Maximum number of unreported devices per hub.
    package static let maximumUnreported = 1_000_000
    /// Time between two checks for unreported devices.
    static let interval: Duration = .seconds(5)
    static let firstPause: Duration = .seconds(1)
    static let longestPause: Duration = .seconds(300)
    /// The pause if the backend says that the address is gone (410), and the upper limit of `Retry-After`.
    static let hour: Duration = .seconds(3600)

    private let settings: Settings
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource
    private let note: @Sendable (Event) -> Void
    private var failures = 0
    private var size = batch

    package init(
        _ settings: Settings, transport: any PushTransport, clock: any HubClock, random: any RandomSource,
        note: @escaping @Sendable (Event) -> Void
    ) {
        (self.settings, self.transport, self.clock, self.random, self.note) = (settings, transport, clock, random, note)
    }

    /// Runs until the task is cancelled.
    package func run(_ sources: @Sendable () -> [any PrunedDeviceQueue]) async {
        while !Task.isCancelled {
            let pause = await report(sources())
            do { try await clock.sleep(until: clock.now + pause) } catch { return }
        }
    }

    /// Reports everything that is pending. Returns the pause before the next check.
    package func report(_ sources: [any PrunedDeviceQueue]) async -> Duration {
        for source in sources {
            do throws(PushError) {
                let lost = try await source.dropUnreported(beyond: Self.maximumUnreported)
                if lost > 0 { note(.lost(hub: source.name, lost)) }
                if let pause = try await reportAll(source) { return pause }
            } catch {
                return pause(after: "\(source.name): \(error.message)")
            }
        }
        if !Task.isCancelled { ended(.nothingPending) }
        return Self.interval
    }

    /// Ends a series of failures.
    private func ended(_ event: Event) {
        if failures > 0 { note(event) }
        failures = 0
    }

    /// Returns `nil` once everything is reported, otherwise the pause before the next attempt.
    private func reportAll(_ source: any PrunedDeviceQueue) async throws(PushError) -> Duration? {
        while !Task.isCancelled {
            let devices = try await source.unreported(limit: size)
            guard let last = devices.last else { return nil }
            switch await send(PrunedReport(hub: source.name, devices)) {
            case .taken:
                try await source.acknowledge(upTo: last.number)
                note(.delivered(hub: source.name, devices.count))
                ended(.hasRecovered)
            case .tooLarge where devices.count > 1: size = max(1, devices.count / 2)
            case .tooLarge: return pause(after: "413: it rejects even a single device per request")
            // The task was cancelled, which is not a failure of the webhook.
            case .failed where Task.isCancelled: return nil
            case .failed(let why, let retryAfter): return pause(after: why, retryAfter: retryAfter)
            }
        }
        return nil
    }

    private enum Answer {
        case taken
        case tooLarge
        /// The reason, and the minimum time to wait.
        case failed(String, Duration?)
    }

    private func send(_ report: PrunedReport) async -> Answer {
        let now = clock.now
        do throws(TransportError) {
            let answer = try await transport.exchange(
                report.request(to: settings.address, secret: settings.secret, now: now), body: report.body)
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

    /// Exponential backoff with jitter: doubles after each failure; random between half of it and all of it.
    private func pause(after why: String, retryAfter: Duration? = nil) -> Duration {
        let whole = min(Self.firstPause * (1 << min(failures, 20)), Self.longestPause).milliseconds
        let pause = max(.milliseconds(whole / 2 + Int64(random.next() % UInt64(whole / 2 + 1))), retryAfter ?? .zero)
        note(.failed(why, pause: pause, isFirst: failures == 0))
        failures += 1
        return pause
    }
}
