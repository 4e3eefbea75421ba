import NIOCore
import PushModel

/// The connections to one origin, with the queue of pushes that wait for them. Confined to one event loop.
final class ConnectionPool {
    enum Letter: Sendable {
        case send(number: UInt64, PushBatch, PushJob.Completion)
        case cancel(number: UInt64)
        case close(EventLoopPromise<Void>)
    }

    private let loop: any EventLoop
    private let dialer: any PushDialer
    private let limits: HTTP2Limits
    private let makeCodec: (StreamSlots) throws -> any PushCodec
    private let queue: PushQueue
    private let window: CongestionWindow
    private var handlers: [PushHandler] = []
    private var isDialing = false
    private var backOff: BackOff
    private var lastFailure = ConnectionRefusal(text: "")
    /// The scheduled next connection attempt, and its time.
    private var pause: (task: Scheduled<Void>, end: NIODeadline)?
    private var ticker: Scheduled<Void>?
    private var waitingSince = NIODeadline.uptimeNanoseconds(0)
    private var closing: EventLoopPromise<Void>?
    /// Called after the pool has been idle, without connections or pushes, for `limits.memory`. It may then be removed.
    var onIdle: (@Sendable () -> Void)?
    private var rest: Scheduled<Void>?

    /// The precision of deadlines.
    static let tick = TimeAmount.seconds(1)

    init(
        loop: any EventLoop, dialer: any PushDialer, limits: HTTP2Limits, random: any RandomSource,
        codec: @escaping (StreamSlots) throws -> any PushCodec = { try NGHTTP2Codec(slots: $0) }
    ) {
        self.loop = loop
        self.dialer = dialer
        self.limits = limits
        makeCodec = codec
        queue = PushQueue(attempts: limits.attempts)
        window = CongestionWindow(limit: limits.streams)
        backOff = BackOff(limits: limits, random: random)
    }

    /// Number of pushes that wait for a connection.
    var waiting: Int { queue.count }
    /// Number of pushes in flight.
    var inFlight: Int { handlers.reduce(0) { $0 + $1.slots.live } }
    var connections: Int { handlers.count }

    func take(_ letters: [Letter]) {
        for letter in letters {
            switch letter {
            case .send(let number, let batch, let completion):
                add(PushJob(number: number, batch: batch, completion: completion))
            case .cancel(let number): cancel(number)
            case .close(let promise): close(promise)
            }
        }
        serve()
    }

    private func add(_ job: PushJob) {
        if let refusal { return job.finishRest(.notSent(refusal)) }
        if queue.isEmpty { waitingSince = loop.now }
        queue.add(job)
        startTicking()
    }

    /// Why new pushes are currently rejected; `nil` if they are accepted.
    private var refusal: PushFailure? {
        if closing != nil { return .closed("the server is shutting down") }
        guard let pause, !handlers.contains(where: { $0.phase == .open }) else { return nil }
        let rest = pause.end - loop.now
        return rest > TimeAmount(limits.longestWait) ? lastFailure.failure(pause: rest) : nil
    }

    private func cancel(_ number: UInt64) {
        guard !queue.cancel(number: number) else { return }
        for handler in handlers { handler.cancel(number) }
    }

    /// Passes waiting pushes to connections, and opens a connection if there is none.
    private func serve() {
        if closing != nil { queue.refuseAll(.closed("the server is shutting down")) }
        for handler in handlers where !queue.isEmpty && handler.freeSlots > 0 { handler.pump() }
        let isServed = handlers.contains { $0.phase == .open || $0.phase == .connecting }
        if !queue.isEmpty, !isServed, pause == nil { dial() }
        scheduleIdleCallback()
    }

    private var isResting: Bool { handlers.isEmpty && queue.isEmpty && !isDialing && pause == nil && closing == nil }

    private func scheduleIdleCallback() {
        guard let onIdle, isResting != (rest != nil) else { return }
        rest?.cancel()
        rest = nil
        guard isResting else { return }
        rest = loop.scheduleTask(in: TimeAmount(limits.memory)) { onIdle() }
    }

    // MARK: - Connecting

    private func dial() {
        guard !isDialing else { return }
        isDialing = true
        dialer.dial(on: loop).assumeIsolated().whenComplete { [self] result in
            isDialing = false
            do {
                try add(result.get())
            } catch {
                failed(ConnectionFault.refusal(error))
            }
        }
    }

    private func add(_ channel: any Channel) throws {
        guard closing == nil else { return channel.close(promise: nil) }
        do {
            let slots = StreamSlots(capacity: limits.streams)
            let handler = PushHandler(
                queue: queue, slots: slots, codec: try makeCodec(slots), window: window, limits: limits, admit: dialer.objection(to:))
            handler.owner = self
            handlers.append(handler)
            try channel.pipeline.syncOperations.addHandler(handler)
            startTicking()
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// Handles a failed connection attempt, or a connection that accepted no push: rejects waiting pushes and schedules the next attempt.
    private func failed(_ why: ConnectionRefusal) {
        lastFailure = why
        let length = backOff.fail()
        pause?.task.cancel()
        let task = loop.assumeIsolated().scheduleTask(in: length) { [self] in
            pause = nil
            serve()
        }
        pause = (task, loop.now + length)
        if !handlers.contains(where: { $0.phase == .open }) {
            queue.refuseAll(why.failure(pause: length))
        }
    }

    // MARK: - Time

    /// Ticks as long as there are connections or waiting pushes.
    private func startTicking() {
        guard ticker == nil else { return }
        ticker = loop.assumeIsolated().scheduleTask(in: Self.tick) { [self] in
            ticker = nil
            look(at: loop.now)
            if !handlers.isEmpty || !queue.isEmpty { startTicking() }
        }
    }

    private func look(at now: NIODeadline) {
        for handler in handlers { handler.tick(now, interval: Self.tick) }
        rejectOverdue(now)
        serve()
        grow()
    }

    /// Rejects waiting pushes if open connections start none for too long: the peer allows no streams, or does not read.
    private func rejectOverdue(_ now: NIODeadline) {
        let last = handlers.reduce(waitingSince) { max($0, $1.times.lastStarted) }
        if !queue.isEmpty, !isDialing, pause == nil, now - last > TimeAmount(limits.answer) { queue.refuseAll(.overdue) }
    }

    /// Opens another connection if all are full and the service has answered pushes on each.
    private func grow() {
        guard !queue.isEmpty, !isDialing, pause == nil, closing == nil, !handlers.isEmpty, handlers.count < limits.connections,
            handlers.allSatisfy({ $0.phase == .open && $0.freeSlots == 0 && $0.codec.peerLimit > 1 && $0.hasAnswered })
        else { return }
        dial()
    }

    // MARK: - Shutdown

    private func close(_ promise: EventLoopPromise<Void>) {
        if let closing { return closing.futureResult.cascade(to: promise) }
        closing = promise
        pause?.task.cancel()
        pause = nil
        rest?.cancel()
        queue.refuseAll(.closed("the server is shutting down"))
        for handler in handlers { handler.closeGracefully("the server is shutting down") }
        guard !handlers.isEmpty else { return promise.succeed() }
        loop.assumeIsolated().scheduleTask(in: TimeAmount(limits.drainTimeout)) { [self] in
            for handler in handlers { handler.cut("the server is shutting down") }
        }
    }
}

extension ConnectionPool: PushHandlerOwner {
    func isDraining(_ handler: PushHandler) {
        if !handler.isOurEnd, !handler.hasAnswered {
            handler.isOurEnd = true
            failed(handler.reason ?? ConnectionRefusal(text: ""))
        }
        serve()
    }

    func hasEnded(_ handler: PushHandler, why: ConnectionRefusal) {
        handlers.removeAll { $0 === handler }
        if handler.hasAnswered {
            backOff.succeed()
        } else if !handler.isOurEnd {
            failed(why)
        }
        serve()
        if handlers.isEmpty { closing?.succeed() }
    }
}
