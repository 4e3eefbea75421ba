import PushCore

extension WNSSettings {
    /// Asks for an access token, which proves package SID and secret. Answers what came in place of a token; nil for a token. Throws
    /// `credential.invalid`.
    package func authenticate(over transport: any PushTransport, clock: any HubClock) async throws(PushError) -> Verdict? {
        let token = try WNSAccessToken(settings: self, transport: transport, clock: clock)
        do throws(Undelivered) {
            _ = try await token.credential()
            return nil
        } catch {
            return error.verdict
        }
    }
}
