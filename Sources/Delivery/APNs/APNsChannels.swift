import HTTPTypes
import PushCore

/// The broadcast channels of one app ("Sending channel management requests to APNs"), iOS 18 and later. Devices subscribe to them
/// with ActivityKit, and one request reaches all of them.
///
/// Errors: `channel.refused` with the status and, in the details, the `reason` of APNs; `channel.unreachable` (502) without an answer.
package struct APNsChannels: Sendable {
    /// What APNs keeps for devices that are not connected.
    package enum StoragePolicy: Int, Sendable {
        case nothing = 0
        /// The newest message, until its expiration.
        case newest = 1
    }

    private let settings: APNsSettings
    private let token: APNsProviderToken?
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource

    /// Throws `credential.invalid`.
    package init(
        settings: APNsSettings, transport: any PushTransport, clock: any HubClock, random: any RandomSource,
        token: APNsProviderToken? = nil
    ) throws(PushError) {
        self.settings = settings
        self.token =
            if settings.certificate != nil { nil } else if let token { token } else {
                try APNsProviderToken(settings: settings, clock: clock)
            }
        (self.transport, self.clock, self.random) = (transport, clock, random)
    }

    /// The id of a new channel.
    package func create(_ policy: StoragePolicy) async throws(PushError) -> String {
        let body: JSON = ["message-storage-policy": .integer(Int64(policy.rawValue)), "push-type": "LiveActivity"]
        let response = try await exchange(.post, "channels", body: Array(body.text().utf8))
        guard let id = response.headers[.apnsChannelID], !id.isEmpty else {
            throw PushError(
                "channel.refused", "APNs made a channel and did not name it", hint: "look for it among all channels", status: 502)
        }
        return id
    }

    /// Nil for a policy that is not one of these.
    package func policy(of channel: String) async throws(PushError) -> StoragePolicy? {
        let response = try await exchange(.get, "channels", channel: channel)
        return JSON(answer: response.body)?["message-storage-policy"]?.int.flatMap(StoragePolicy.init)
    }

    /// The ids of all channels.
    package func all() async throws(PushError) -> [String] {
        let response = try await exchange(.get, "all-channels")
        return JSON(answer: response.body)?["channels"]?.array?.compactMap(\.string) ?? []
    }

    package func delete(_ channel: String) async throws(PushError) { _ = try await exchange(.delete, "channels", channel: channel) }

    // MARK: - Requests

    private func exchange(
        _ method: HTTPRequest.Method, _ place: String, channel: String? = nil, body: [UInt8] = []
    ) async throws(PushError) -> PushResponse {
        let request = try request(method, place, channel)
        do throws(Undelivered) {
            let credential = try await token?.credential()
            let response = try await transport.attempt(request.bearing(credential), body: body)
            guard APNsAnswer(response, id: "", now: clock.now).reason == .expiredProviderToken, let token, let credential,
                let replacement = try await token.replacement(for: credential)
            else { return try checked(response) }
            return try checked(try await transport.attempt(request.bearing(replacement), body: body))
        } catch {
            throw refusal(error.verdict)
        }
    }

    private func checked(_ response: PushResponse) throws(Undelivered) -> PushResponse {
        guard !(200...299).contains(response.status.code) else { return response }
        throw Undelivered(verdict: APNsAnswer(response, id: "", now: clock.now).verdict())
    }

    private func request(_ method: HTTPRequest.Method, _ place: String, _ channel: String?) throws(PushError) -> HTTPRequest {
        var fields = HTTPFields()
        fields[.apnsRequestID] = random.uuid()
        if let channel {
            guard DeviceHandle.apns(channel: channel) != nil else {
                let reason = APNsReason.badChannelID
                throw PushError(
                    "channel.refused", "\"\(channel.excerpt)\" is not the id of a channel", hint: "use the id that its creation answered",
                    status: 400, details: ["reason": .string(reason.rawValue)])
            }
            fields[.apnsChannelID] = channel
        }
        return HTTPRequest(
            method: method, scheme: "https", authority: settings.environment.channelHost, path: "/1/apps/\(settings.topic)/\(place)",
            headerFields: fields)
    }

    private func refusal(_ verdict: Verdict) -> PushError {
        switch verdict {
        case .rejected(let rejection), .transient(let rejection, _):
            guard rejection.status > 0 else { return unreachable(rejection.explanation) }
            return PushError(
                "channel.refused", "APNs refused: \(rejection.reason)", hint: rejection.explanation, status: rejection.status,
                details: ["reason": .string(rejection.reason)])
        case .unknown(let why): return unreachable(why)
        case .accepted: return unreachable("the answer could not be read")
        }
    }

    private func unreachable(_ why: String) -> PushError {
        PushError(
            "channel.unreachable", "\(transport.destination(of: settings.environment.channelHost)) gave no answer: \(why)",
            hint: "let the server out to this host and port, and look at the list of channels before trying again", status: 502)
    }
}

extension HTTPRequest {
    fileprivate func bearing(_ credential: Credential?) -> HTTPRequest {
        var request = self
        request.headerFields[.authorization] = credential.map { "bearer " + $0.token.reveal() }
        return request
    }
}
