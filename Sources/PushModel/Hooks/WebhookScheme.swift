/// The scheme by which a webhook's body is signed.
package enum WebhookScheme: String, Sendable, CaseIterable {
    /// `PushHost-Signature: t=SECONDS,v1=HEX`, an HMAC-SHA256 over `SECONDS.BODY`.
    case pushhost
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    case standard
    /// `X-Hub-Signature-256: sha256=HEX` over the body, with `X-GitHub-Delivery`.
    case github
}
