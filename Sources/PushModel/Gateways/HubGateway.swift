/// A notification hub as its clients see it: embedded, on a server, or Azure's.
///
/// Errors: `hub.not_found` (404), `hub.installation` (409: the registration belongs to an installation), `hub.gone` (410: request a new
/// id), `hub.precondition_failed` (412), `hub.continuation`, `installation.*`, `time.too_far` and those of tags, templates, handles and
/// payloads (400; 413 for a size).
package protocol HubGateway: RegistrationGateway, InstallationGateway, NotificationSender, NotificationReader, SendPlanner {}
