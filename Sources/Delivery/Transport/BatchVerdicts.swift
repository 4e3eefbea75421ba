import PushCore

/// The verdicts of one delivery while they come in.
struct BatchVerdicts {
    private var verdicts: [Verdict?]

    init(_ count: Int) {
        verdicts = Array(repeating: nil, count: count)
    }

    /// Nil for a device that has none yet.
    subscript(_ place: Int) -> Verdict? {
        get { verdicts[place] }
        set { verdicts[place] = newValue }
    }

    /// One for each handle, in their order. Who has none was not sent to, for the delivery was cancelled.
    var all: [Verdict] { verdicts.map { $0 ?? .transient(.abandoned, retryAfter: nil) } }

    /// Sends to devices, so many at a time or all at once. What `send` throws is the verdict of those of them that have none, and, if it
    /// is for all, of everybody who has none; then nothing more is sent.
    mutating func deliver<Device>(
        _ devices: [Device], atATime count: Int?,
        _ send: (ArraySlice<Device>, inout BatchVerdicts) async throws(Undelivered) -> Void
    ) async where Device: BatchDevice {
        let stride = max(1, count ?? devices.count)
        var rest = devices[...]
        while !rest.isEmpty, !Task.isCancelled {
            let some = rest.prefix(stride)
            do throws(Undelivered) {
                try await send(some, &self)
            } catch {
                for device in error.isForAll ? rest : some where self[device.place] == nil { self[device.place] = error.verdict }
                if error.isForAll { return }
            }
            rest = rest.dropFirst(stride)
        }
    }
}

/// A device of a delivery.
protocol BatchDevice {
    /// Its place among the handles.
    var place: Int { get }
}

extension PushOutcome {
    /// What it means for the device; `answered` reads what the service of this origin said.
    func verdict(over transport: any PushBatchTransport, to origin: PushOrigin, answered: (PushAnswer) -> Verdict) -> Verdict {
        switch self {
        case .answered(let answer): answered(answer)
        case .notSent(let failure): failure.verdict(host: transport.destination(of: origin))
        case .unknown(let failure): .unknown(reason: failure.text)
        }
    }
}

extension PushFailure {
    /// What it means that nothing was sent.
    func verdict(host: String) -> Verdict {
        switch self {
        case .cancelled: .transient(.abandoned, retryAfter: nil)
        case .forbidden(let why): .rejected(.forbidden(host, why: why))
        case .unreachable(let why, let retryAfter): .transient(.unreachable(host, why: why), retryAfter: retryAfter)
        default: .transient(.unreachable(host, why: text), retryAfter: nil)
        }
    }
}
