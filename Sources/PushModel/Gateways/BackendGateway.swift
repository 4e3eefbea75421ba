/// The app backend of the tutorials, as devices see it.
///
/// Errors: `auth.failed` (401), `auth.session_expired` (401), `backend.*`, `secure.*`, and those of the hub, above all `hub.gone` (410) for
/// a registration id that can no longer be used.
package protocol BackendGateway: AccountGateway, DeviceRegistrationGateway, UserNotificationSender, SecurePayloadGateway {}
