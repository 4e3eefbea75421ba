package import PushModel

extension WNSSettings {
    /// Requests an access token, to check package SID and secret. Returns the verdict of the failure, or `nil` if a token was issued.
    /// Throws `credential.invalid`.
    package func authenticate(over transport: any PushTransport, clock: any HubClock) async throws(PushError) -> Verdict? {
        let token = try WNSAccessToken(settings: self, transport: transport, clock: clock)
        do throws(DeliveryFailure) {
            _ = try await token.credential()
            return nil
        } catch {
            return error.verdict
        }
    }
}
