import HTTPTypes
package import PushModel

/// Manages the broadcast channels of one app, for iOS 18 and later ("Sending channel management requests to APNs"). Devices subscribe to a
/// channel with ActivityKit; one request reaches all of them.
///
/// Errors: `channel.refused` with the status and, in the details, the `reason` of APNs; `channel.unreachable` (502) if there was no
/// response.
package struct APNsChannels: Sendable {
    /// The pushes that APNs stores for devices that are not connected.
    package enum StoragePolicy: Int, Sendable {
        case nothing = 0
        /// The newest message, until it expires.
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

    /// Creates a channel and returns its id.
    package func create(_ policy: StoragePolicy) async throws(PushError) -> String {
        let body: JSON = ["message-storage-policy": .integer(Int64(policy.rawValue)), "push-type": "LiveActivity"]
        let response = try await exchange(.post, "channels", body: Array(body.text().utf8))
        guard let id = response.headers[.apnsChannelID], !id.isEmpty else {
            throw PushError(
                "channel.refused", "APNs created a channel but did not return its id", hint: "list all channels to find it", status: 502)
        }
        return id
    }

    /// The storage policy of a channel; `nil` for a policy that is not listed here.
    package func policy(of channel: String) async throws(PushError) -> StoragePolicy? {
        let response = try await exchange(.get, "channels", channel: channel)
        return JSON(answer: response.body)?["message-storage-policy"]?.int.flatMap(StoragePolicy.init)
    }

    /// Returns the ids of all channels.
    package func all() async throws(PushError) -> [String] {
        let response = try await exchange(.get, "all-channels")
        return JSON(answer: response.body)?["channels"]?.array?.compactMap(\.string) ?? []
    }

    package func delete(_ channel: String) async throws(PushError) { _ = try await exchange(.delete, "channels", channel: channel) }

    // MARK: - Requests

    private func exchange(
        _ method: HTTPRequest.Method, _ path: String, channel: String? = nil, body: [UInt8] = []
    ) async throws(PushError) -> PushResponse {
        let request = try request(method, path, channel)
        do throws(DeliveryFailure) {
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

    private func checked(_ response: PushResponse) throws(DeliveryFailure) -> PushResponse {
        guard !(200...299).contains(response.status.code) else { return response }
        throw DeliveryFailure(verdict: APNsAnswer(response, id: "", now: clock.now).verdict())
    }

    private func request(_ method: HTTPRequest.Method, _ path: String, _ channel: String?) throws(PushError) -> HTTPRequest {
        var fields = HTTPFields()
        fields[.apnsRequestID] = random.uuid()
        if let channel {
            guard DeviceHandle.apns(channel: channel) != nil else {
                let reason = APNsReason.badChannelID
                throw PushError(
                    "channel.refused", "invalid channel id \"\(channel.excerpt)\"", hint: "use the id returned at its creation",
                    status: 400, details: ["reason": .string(reason.rawValue)])
            }
            fields[.apnsChannelID] = channel
        }
        return HTTPRequest(
            method: method, scheme: "https", authority: settings.environment.channelHost, path: "/1/apps/\(settings.topic)/\(path)",
            headerFields: fields)
    }

    private func refusal(_ verdict: Verdict) -> PushError {
        switch verdict {
        case .rejected(let rejection), .transient(let rejection, _):
            guard rejection.status > 0 else { return unreachable(rejection.explanation) }
            return PushError(
                "channel.refused", "APNs rejected the request: \(rejection.reason)", hint: rejection.explanation, status: rejection.status,
                details: ["reason": .string(rejection.reason)])
        case .unknown(let why): return unreachable(why)
        case .accepted: return unreachable("the response could not be read")
        }
    }

    private func unreachable(_ why: String) -> PushError {
        PushError(
            "channel.unreachable", "\(transport.destination(of: settings.environment.channelHost)) did not respond: \(why)",
            hint: "allow outgoing connections to this host and port, and list the channels before trying again", status: 502)
    }
}

extension HTTPRequest {
    fileprivate func bearing(_ credential: Credential?) -> HTTPRequest {
        var request = self
        request.headerFields[.authorization] = credential.map { "bearer " + $0.token.reveal() }
        return request
    }
}
