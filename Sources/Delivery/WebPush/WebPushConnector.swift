package import PushModel

/// Sends messages to the push services that browsers subscribed with (RFC 8030, RFC 8291, RFC 8292).
package struct WebPushConnector: Connector {
    package let platforms: Set<Platform> = [.browser]

    private let settings: WebPushSettings
    private let vapid: WebPushVAPID
    private let transport: any PushBatchTransport
    private let clock: any HubClock
    private let random: any RandomSource

    /// Maximum number of push services that a batch is sent to concurrently.
    private static let maximumConcurrentOrigins = 64
    /// Number of messages encrypted before yielding to other tasks: about two milliseconds of work.
    private static let messagesPerTurn = 16

    /// `random` generates the keys of every message, so outside of a rehearsal it must be cryptographically secure. Throws
    /// `credential.invalid`.
    package init(
        settings: WebPushSettings, transport: any PushBatchTransport, clock: any HubClock, random: any RandomSource
    ) throws(PushError) {
        self.settings = settings
        vapid = try WebPushVAPID(settings: settings, clock: clock)
        self.transport = transport
        self.clock = clock
        self.random = random
    }

    /// Sends one request at a time, over a transport without batches.
    package init(
        settings: WebPushSettings, transport: any PushTransport, clock: any HubClock, random: any RandomSource
    ) throws(PushError) {
        try self.init(settings: settings, transport: SequentialTransport(transport), clock: clock, random: random)
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let limit = Platform.browser.payloadLimit
        guard batch.body.count <= limit else {
            return batch.refused(
                .tooLarge(
                    WebPushReason.payloadTooLarge.rawValue, bytes: batch.body.count, limit: limit, service: "Web Push"))
        }
        let message = Message(request: WebPushRequest(batch, now: clock.now), plaintext: batch.body)
        var verdicts = BatchVerdicts(batch.handles.count)
        let devices = devices(of: batch, &verdicts)
        if transport.isSequential {
            await verdicts.deliver(devices, maximumConcurrency: 1) { (devices, verdicts) async throws(DeliveryFailure) in
                for (handleIndex, verdict) in try await send(message, to: Array(devices)) { verdicts[handleIndex] = verdict }
            }
        } else {
            let groups = Self.groups(devices)
            let answers = await concurrently(groups.count, width: Self.maximumConcurrentOrigins) { index in
                await sendOrRefuse(message, to: groups[index])
            }
            for (handleIndex, verdict) in answers.joined() { verdicts[handleIndex] = verdict }
        }
        return verdicts.all
    }

    private struct Message {
        let request: WebPushRequest
        let plaintext: [UInt8]
    }

    private struct Device: BatchDevice {
        let handleIndex: Int
        let endpoint: WebAddress
        let origin: PushOrigin
        let p256dh: String
        let auth: String
    }

    private typealias IndexedVerdict = (handleIndex: Int, verdict: Verdict)

    /// Returns the devices that can be sent to; records a rejection for the others.
    private func devices(of batch: DeliveryBatch, _ verdicts: inout BatchVerdicts) -> [Device] {
        var devices: [Device] = []
        devices.reserveCapacity(batch.handles.count)
        var allowed: [PushOrigin: Bool] = [:]
        func isAllowed(_ endpoint: WebAddress, _ origin: PushOrigin) -> Bool {
            let isAllowed = allowed[origin] ?? settings.allows(endpoint)
            allowed[origin] = isAllowed
            return isAllowed
        }
        for (handleIndex, handle) in batch.handles.enumerated() {
            guard case .browser(let text, let p256dh, let auth) = handle else {
                verdicts[handleIndex] = .rejected(.foreign(handle, to: "Web Push"))
                continue
            }
            guard let endpoint = WebAddress(text), case let origin = PushOrigin(authority: endpoint.authority, scheme: endpoint.scheme),
                isAllowed(endpoint, origin)
            else {
                verdicts[handleIndex] = .rejected(refusal(ofEndpoint: text))
                continue
            }
            devices.append(Device(handleIndex: handleIndex, endpoint: endpoint, origin: origin, p256dh: p256dh, auth: auth))
        }
        return devices
    }

    /// Groups devices by push service, in the order of first occurrence.
    private static func groups(_ devices: [Device]) -> [[Device]] {
        var (groups, indexes) = ([[Device]](), [PushOrigin: Int]())
        for device in devices {
            if let index = indexes[device.origin] {
                groups[index].append(device)
            } else {
                indexes[device.origin] = groups.count
                groups.append([device])
            }
        }
        return groups
    }

    private func sendOrRefuse(_ message: Message, to devices: [Device]) async -> [IndexedVerdict] {
        if Task.isCancelled { return [] }
        do throws(DeliveryFailure) {
            return try await send(message, to: devices)
        } catch {
            return devices.map { ($0.handleIndex, error.verdict) }
        }
    }

    /// Sends to devices of one push service. Throws if no VAPID token could be signed for it.
    private func send(_ message: Message, to devices: [Device]) async throws(DeliveryFailure) -> [IndexedVerdict] {
        guard let first = devices.first else { return [] }
        let size = WebPushEncryption.size(plaintext: message.plaintext.count)
        var bodies = PushBodies(capacity: devices.count, partSize: size)
        var (sealed, verdicts) = ([Device](), [IndexedVerdict]())
        for (index, device) in devices.enumerated() {
            if index > 0, index.isMultiple(of: Self.messagesPerTurn) { await Task.yield() }
            if let refusal = seal(message.plaintext, for: device, into: &bodies) {
                verdicts.append((device.handleIndex, .rejected(refusal)))
            } else {
                sealed.append(device)
            }
        }
        if sealed.isEmpty { return verdicts }
        let origin = first.origin
        let authorization = try await vapid.authorization(for: first.endpoint.origin)
        var pushes = PushBatch(
            headers: message.request.headers(to: origin, authorization: authorization, size: size), bodies: bodies,
            capacity: sealed.count, pathSize: first.endpoint.path.utf8.count)
        for device in sealed { pushes.append(id: nil) { $0 += device.endpoint.path.utf8 } }
        for (device, outcome) in zip(sealed, await transport.send(pushes)) {
            let verdict = outcome.verdict(over: transport, to: origin) { answer in
                WebPushAnswer(answer.response, now: clock.now).verdict(hasOwnHeaders: message.request.hasOwnHeaders)
            }
            verdicts.append((device.handleIndex, verdict))
        }
        return verdicts
    }

    /// Encrypts the message for one device and appends it; returns a rejection if that fails.
    private func seal(_ plaintext: [UInt8], for device: Device, into bodies: inout PushBodies) -> Rejection? {
        guard let recipient = WebPushRecipient(p256dh: device.p256dh, auth: device.auth) else { return Self.badKeys }
        guard let body = try? WebPushEncryption.seal(plaintext, for: recipient, random: random) else { return Self.encryptionFailed }
        bodies.append { $0 += body }
        return nil
    }

    private func refusal(ofEndpoint text: String) -> Rejection {
        let host = WebAddress(text)?.host.excerpt
        return Rejection(
            status: 0, reason: "BadEndpoint",
            explanation: "the endpoint \(host.map { "on \($0) " } ?? "")is not an https URI on a public host; to allow it, add its "
                + "origin to the settings",
            outcome: .badChannel)
    }

    private static let badKeys = Rejection(
        status: 0, reason: "BadKeys",
        explanation: "the subscription's p256dh is not a P-256 key, or its auth is not a secret of 16 bytes; the web app must "
            + "subscribe again",
        outcome: .badChannel)

    private static let encryptionFailed = Rejection(
        status: 0, reason: "EncryptionFailed",
        explanation: "no key could be generated for the message; check this machine's source of randomness",
        outcome: .unknownError)
}
