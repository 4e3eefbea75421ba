import PushModel

/// Collects the verdicts of one delivery.
struct BatchVerdicts {
    private var verdicts: [Verdict?]

    init(_ count: Int) {
        verdicts = Array(repeating: nil, count: count)
    }

    /// The verdict of the device at this index; `nil` while it has none.
    subscript(_ handleIndex: Int) -> Verdict? {
        get { verdicts[handleIndex] }
        set { verdicts[handleIndex] = newValue }
    }

    /// One verdict for each handle, in order. Devices without a verdict were not sent to, because the delivery was cancelled.
    var all: [Verdict] { verdicts.map { $0 ?? .transient(.abandoned, retryAfter: nil) } }

    /// Sends to devices, `count` at a time or all at once. An error of `send` becomes the verdict of the devices in this call that have
    /// none. If it is for all, it becomes the verdict of all remaining devices, and nothing more is sent.
    mutating func deliver<Device>(
        _ devices: [Device], maximumConcurrency count: Int?,
        _ send: (ArraySlice<Device>, inout BatchVerdicts) async throws(DeliveryFailure) -> Void
    ) async where Device: BatchDevice {
        let stride = max(1, count ?? devices.count)
        var rest = devices[...]
        while !rest.isEmpty, !Task.isCancelled {
            let some = rest.prefix(stride)
            do throws(DeliveryFailure) {
                try await send(some, &self)
            } catch {
                for device in error.isForAll ? rest : some where self[device.handleIndex] == nil {
                    self[device.handleIndex] = error.verdict
                }
                if error.isForAll { return }
            }
            rest = rest.dropFirst(stride)
        }
    }
}

extension PushOutcome {
    /// The verdict for this outcome; `answered` reads a response of the service.
    func verdict(over transport: any PushBatchTransport, to origin: PushOrigin, answered: (PushAnswer) -> Verdict) -> Verdict {
        switch self {
        case .answered(let answer): answered(answer)
        case .notSent(let failure): failure.verdict(host: transport.destination(of: origin))
        case .unknown(let failure): .unknown(reason: failure.text)
        }
    }
}

extension PushFailure {
    /// The verdict if nothing was sent.
    func verdict(host: String) -> Verdict {
        switch self {
        case .cancelled: .transient(.abandoned, retryAfter: nil)
        case .forbidden(let why): .rejected(.forbidden(host, why: why))
        case .unreachable(let why, let retryAfter): .transient(.unreachable(host, why: why), retryAfter: retryAfter)
        default: .transient(.unreachable(host, why: text), retryAfter: nil)
        }
    }
}
