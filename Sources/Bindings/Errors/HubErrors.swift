/// Error codes of devices, hubs and push services.
enum HubErrors {
    static let all: [ErrorArea] = [
        device, simulator, handle, hub, key, installation, notification, PlanErrors.plan, credential, channel,
    ]

    private static let device = ErrorArea(
        "device", "simulated devices",
        [
            ErrorDescription(
                "device.exists", .failure, .answer, means: "A device with this name already exists.",
                when: "push.device is called twice with the same name. Status 409.",
                fix: "Give every device its own name. To use a device again, keep it in a variable.",
                example: .lua(
                    """
                    push.device { name = "ana-1" }
                    push.device { name = "ana-1" }
                    """,
                    fix: """
                        push.device { name = "ana-1" }
                        push.device { name = "ana-2" }
                        """)),
            ErrorDescription(
                "device.not_found", .failure, .answer, means: "There is no such device.",
                when: "push.find_device got an unknown name; or a trace names an unknown device with a name similar to a known one, "
                    + "or fewer than six characters of a handle. Status 404.",
                fix: "Use the name that the message suggests, or at least six characters of the handle. push.devices lists all devices.",
                example: .lua(
                    """
                    push.device { name = "ana-1" }
                    print(push.find_device "ana1".platform)
                    """,
                    fix: """
                        push.device { name = "ana-1" }
                        print(push.find_device "ana-1".platform)
                        """)),
            ErrorDescription(
                "device.uninstalled", .failure, means: "The app is not installed on the device.",
                when: "After phone:uninstall() the device has no handle, so it cannot be registered or sent to. Status 409.",
                fix: "Call phone:reinstall() and register again. The device then has a new handle.",
                example: .lua(
                    """
                    phone:uninstall()
                    session:register { device = phone }
                    """,
                    fix: """
                        phone:uninstall()
                        phone:reinstall()
                        session:register { device = phone }
                        """)),
            ErrorDescription(
                "device.platform", .program, means: "Devices of this platform are not simulated.",
                when: "A program asks for a simulated device of a platform that PushHost stores for compatibility with Azure but does not "
                    + "deliver to, such as ADM. Status 400.",
                fix: "Use apns, fcm, gcm, wns or browser."),
            ErrorDescription(
                "device.storage_full", .failure, means: "The app's storage is full.",
                when: "Its names and values exceed 1 MiB.", fix: "Store less, or remove values that are not needed.",
                example: .lua(
                    "phone:storage().picture = (\"x\"):rep(2 << 20)", fix: "phone:storage().picture = \"picture-17\"")),
        ])

    private static let simulator = ErrorArea(
        "simulator", "simulated push services: faults and control API",
        [
            ErrorDescription(
                "simulator.reason", .failure, .answer, means: "The push service has no such reason.",
                when: "A simulator is set to fail with a reason that the real service never returns, or with a reason of its token "
                    + "endpoint for notifications. Status 400.",
                fix: "Use a reason of the service; the hint suggests the nearest one.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"UNREGISTERED\", next = 1 }",
                    fix: "push.simulator.apns:fail { reason = \"Unregistered\", next = 1 }")),
            ErrorDescription(
                "simulator.count", .misuse, means: "The number of failures is less than one.",
                when: "next is below 1.", fix: "Give 1 or more. Without next, the service fails until it is reset.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"Unregistered\", next = 0 }",
                    fix: "push.simulator.apns:fail { reason = \"Unregistered\", next = 1 }")),
            ErrorDescription(
                "simulator.handle", .failure, .answer, means: "The device does not use this push service.",
                when: "A fault of one service names a device of another, or a fault of the token endpoint names a device, although access "
                    + "tokens are not specific to devices. Status 400.",
                fix: "Name the service of the device. For access tokens, omit the device.",
                example: .lua(
                    "push.simulator.fcm:fail { reason = \"UNREGISTERED\", device = phone }",
                    fix: "push.simulator[phone.platform]:fail { reason = \"Unregistered\", device = phone }")),
            ErrorDescription(
                "simulator.share", .failure, .answer, means: "The share of failures is invalid.",
                when: "The share is 0 or less, or above 1. Status 400.",
                fix: "Give a number above 0 and up to 1, such as 0.05 for one in twenty, or omit it for all.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"Shutdown\", share = 5 }",
                    fix: "push.simulator.apns:fail { reason = \"Shutdown\", share = 0.05 }")),
            ErrorDescription(
                "simulator.retry_after", .failure, .answer, means: "The push service cannot return this Retry-After.",
                when: "retry_after is used with a reason that has no Retry-After, exceeds 1000000 seconds, or is not a whole number of "
                    + "seconds. Status 400.",
                fix: "Omit it, or use one of the reasons in the hint: those with status 429 or 503, 406 of WNS, and all of APNs.",
                example: .lua(
                    "push.simulator.fcm:fail { reason = \"UNREGISTERED\", retry_after = \"30s\" }",
                    fix: "push.simulator.fcm:fail { reason = \"UNAVAILABLE\", retry_after = \"30s\" }")),
            ErrorDescription(
                "simulator.token", .failure, .answer, means: "The push service does not issue access tokens.",
                when: "A fault of access tokens is set for APNs or browsers, whose senders sign their own tokens. Status 400.",
                fix: "Omit at = \"token\", or name fcm or wns.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"invalid_grant\", at = \"token\" }",
                    fix: "push.simulator.fcm:fail { reason = \"invalid_grant\", at = \"token\" }")),
            ErrorDescription(
                "simulator.host", .answer, means: "The host is not one of a simulated push service.",
                when: "The Host header of a request to pushhost simulate is neither that of a push service nor that of the machine. Status "
                    + "421.",
                fix: "Send the Host header of the real service, such as api.push.apple.com."),
            ErrorDescription(
                "simulator.protocol", .answer, means: "The simulated APNs requires HTTP/2.",
                when: "A request to the simulated APNs arrives over TLS with HTTP/1.1, which APNs does not support. Status 505.",
                fix: "Let the client offer h2 when it connects, as APNs requires."),
            ErrorDescription(
                "simulator.path", .answer, means: "The control API of the simulators has no such path.",
                when: "Method and path of a request to pushhost simulate are not among those in the hint. Status 404.",
                fix: "Use a path from the hint. The services are apns, fcm, wns and webpush."),
            ErrorDescription(
                "simulator.request", .answer, means: "The request to the control API of the simulators is invalid.",
                when: "The body is not a JSON object, a field is missing, unknown or of the wrong type, or a number is out of range: "
                    + "status 400. Or the body exceeds 64 KiB: status 413.",
                fix: "Correct what the message and the hint name."),
        ])

    private static let handle = ErrorArea(
        "handle", "device handles of push services",
        [
            ErrorDescription(
                "handle.invalid", .failure, means: "The handle does not have the format of its push service.",
                when: "An APNs token is not hexadecimal, a WNS channel is not a URI, a browser subscription lacks its keys, or the handle "
                    + "is empty. Status 400.",
                fix: "Pass the handle as the app received it: APNs tokens in hexadecimal without spaces, FCM tokens unchanged.")
        ])

    private static let hub = ErrorArea(
        "hub", "hubs, registrations and recipients",
        [
            ErrorDescription(
                "hub.restoring", .answer, means: "A backup is being restored.",
                when: "pushhost hub restore is running on the server. The request was not processed. Status 503, with Retry-After.",
                fix: "Repeat the request after a few seconds."),
            ErrorDescription(
                "hub.no_target", .warning, means: "No registration matches the audience.",
                when: "push.send matches no registration: nothing was sent, and the outcome is NoTargetFound. The tag may be misspelt, the "
                    + "device may not be registered yet, or it has a template while native payloads were sent (alert and payload reach "
                    + "native registrations, properties reach templates). With --fail-on-no-target the exit code is 6.",
                fix: "The output lists similar tags. Print registration.tags where the device registers.",
                example: .lua(
                    """
                    session:register { device = phone, tags = { "Sports" } }
                    push.send { to = "Sport", alert = "Goal" }
                    """,
                    fix: """
                        session:register { device = phone, tags = { "Sports" } }
                        push.send { to = "Sports", alert = "Goal" }
                        """)),
            ErrorDescription(
                "hub.registration_replaced", .warning, means: "A device was registered again as another kind.",
                when: "push.register, session:register and push.subscribe store one registration per device. Registering without a "
                    + "template replaces a registration with a template, and the reverse. push.install without templates replaces an "
                    + "installation with templates. From then on, properties or native payloads no longer reach the device.",
                fix: "Register the device once, or use push.install with templates: both native payloads and templates reach an "
                    + "installation. To change parts of an installation, use push.patch.",
                example: .lua(
                    """
                    session:register { device = phone, template = '{"aps":{"alert":"$(text)"}}' }
                    session:register { device = phone }
                    """,
                    fix: """
                        push.install("alice-1", { device = phone, templates = { news = '{"aps":{"alert":"$(text)"}}' } })
                        """)),
            ErrorDescription(
                "hub.gone", .failure, means: "The registration id is no longer valid.",
                when: "The registration was deleted or has expired since the id was issued. Status 410. push.register requests a new id "
                    + "and tries once more, so a script sees the error only if that fails too.",
                fix: "Register again."),
            ErrorDescription(
                "hub.not_found", .failure, means: "The hub has no such registration or installation.",
                when: "The id is wrong, or the registration or installation was deleted. Status 404.", fix: "Create it first.",
                example: .lua(
                    "push.installation \"f81d4fae\"",
                    fix: """
                        push.install("f81d4fae", { device = phone })
                        push.installation "f81d4fae"
                        """)),
            ErrorDescription(
                "hub.precondition_failed", .failure, means: "The registration was changed in the meantime.",
                when: "The given ETag is not the current one. Status 412.", fix: "Read the registration again and repeat the change."),
            ErrorDescription(
                "hub.installation", .failure, means: "The registration belongs to an installation and cannot be changed alone.",
                when: "A client updates or deletes a registration that the hub created for an installation. Status 409.",
                fix: "Change the installation."),
            ErrorDescription(
                "hub.continuation", .failure, means: "The continuation token is not valid for this hub.",
                when: "A list is requested with a token that this hub did not issue. Status 400.",
                fix: "Pass the token of the previous page, or none for the first page."),
            ErrorDescription(
                "hub.idempotency_key", .failure, means: "The idempotency key cannot be used for this notification.",
                when: "It was used for another notification (status 422), or it is not 1 to 255 visible ASCII characters (status 400).",
                fix: "Use a new key for each notification, for example a UUID. Reuse a key only to repeat an unchanged request."),
            ErrorDescription(
                "hub.throttled", .answer, means: "Too many requests with this key, or too many test sends to this hub.",
                when: "A limit of requests per minute is set, or there were more than ten test sends in a minute. Status 429.",
                fix: "Wait for the time in the header Retry-After."),
            ErrorDescription(
                "hub.exists", .answer, means: "A hub with this name already exists.",
                when: "A hub is created under the name of another one. Names are case-insensitive. Status 409.",
                fix: "Choose another name, or change the existing hub."),
            ErrorDescription(
                "hub.stopped", .failure, .answer, means: "The hub is shutting down.",
                when: "The server is stopping, or the hub is being deleted. Status 503.",
                fix: "Retry later. A deleted hub then returns 404."),
            ErrorDescription(
                "hub.name", .answer, means: "The name of the hub is invalid.",
                when: "It is empty, exceeds 260 characters, has characters that are not allowed in paths, or is a word reserved in paths, "
                    + "such as messages. Status 400.",
                fix: "Use letters, digits and - . _, with slashes between parts."),
            ErrorDescription(
                "hub.rule", .answer,
                means: "A key of the hub is invalid.",
                when: "Its name is invalid or used twice, it has no rights, or a value is not 32 bytes in base64. Azure calls a key an "
                    + "authorization rule. Status 400.",
                fix: "Correct the key that the message names."),
            ErrorDescription(
                "hub.ttl", .answer, means: "The time to live of registrations is too short.",
                when: "A hub is given a time to live of less than a day. Status 400.", fix: "Set P1D or more."),
            ErrorDescription(
                "hub.metadata", .answer, means: "The user metadata of the hub is too long.",
                when: "It exceeds 1,024 characters. Status 400.", fix: "Shorten it."),
            ErrorDescription(
                "hub.description", .answer, means: "The description of the hub is invalid.",
                when: "A hub is created or changed with a time to live of less than a day, a key without a name or rights, a key value "
                    + "that is not 32 bytes in base64, or too much metadata. Status 400.",
                fix: "Correct what the message names."),
        ])

    private static let key = ErrorArea(
        "key", "access keys of servers and hubs",
        [
            ErrorDescription(
                "key.ceiling", .answer, means: "A key with the right Manage cannot have a ceiling.",
                when: "A key is created with Manage and a ceiling. It could create another key without one. Status 409.",
                fix: "Omit Manage or the ceiling. guard.ceiling in the settings applies to every key."),
            ErrorDescription(
                "key.exists", .answer,
                means: "A key with this name already exists.",
                when: "The name belongs to another key of the same hub or server; or a key of the server has the name of a key of a hub, "
                    + "or the reverse. Tokens identify a key only by its name. Status 409.",
                fix: "Choose another name, or rotate the existing key: pushhost key rotate NAME."),
            ErrorDescription(
                "key.not_found", .answer,
                means: "There is no key with this name.",
                when: "A key is rotated or revoked, but neither the hub nor the server has a key with this name. Status 404.",
                fix: "pushhost key list shows all keys. Names are case-sensitive."),
            ErrorDescription(
                "key.last", .answer,
                means: "The last key with the right Manage cannot be revoked.",
                when: "Without it the server could no longer be managed. Status 409.",
                fix: "Create another key with Manage first, or rotate this one."),
        ])

    private static let installation = ErrorArea(
        "installation", "installations at the hub",
        [
            ErrorDescription(
                "installation.invalid", .failure, means: "The installation is invalid.",
                when: "Its id is empty, its id or user id has characters that are not allowed in tags, or its expiration time has passed; "
                    + "or it has more than 100 templates, including those of its tiles, more than 100 tiles, or more than 256 KiB (413). "
                    + "Status 400.",
                fix: "Use only letters, digits and - _ @ # . : =. Give an expiration time in the future, or none. Remove templates that "
                    + "no send uses.",
                example: .lua(
                    "push.install(\"my phone\", { device = phone })", fix: "push.install(\"my-phone\", { device = phone })")),
            ErrorDescription(
                "installation.user_id", .answer, means: "The key may not set the user of an installation.",
                when: "A key that has only the right Listen changes the userId of an installation, or the pushChannel of one that has a "
                    + "userId, and the server has the setting hub.listen_user_id: refuse. Nothing was changed. Status 403.",
                fix: "Let your own server write the installation with a key that has Send, or omit userId."),
            ErrorDescription(
                "installation.channel", .misuse, means: "An installation has no channel, or more than one.",
                when: "push.install got neither a device nor a platform with a push_channel, or it got both.",
                fix: "Give the device, or the platform and the handle that its app received.",
                example: .lua(
                    "push.install(\"f81d4fae\", { platform = \"apns\" })", fix: "push.install(\"f81d4fae\", { device = phone })")),
            ErrorDescription(
                "installation.filter", .misuse, means: "Installations are filtered by more than one property.",
                when: "push.installations got more than one of user, tag and platform.",
                fix: "Use one of them, and filter by the others inside the loop.",
                example: .lua(
                    "for each in push.installations { user = \"alice\", platform = \"apns\" } do print(each.id) end",
                    fix: """
                        for each in push.installations { user = "alice" } do
                          if each.platform == "apns" then print(each.id) end
                        end
                        """)),
            ErrorDescription(
                "installation.patch", .failure, .misuse, means: "A patch operation is invalid.",
                when: "The operation is not add, remove or replace, the path does not exist in installations, or the value has the wrong "
                    + "type for the path. Status 400.",
                fix: "Use one of the paths in the hint.",
                example: .lua(
                    """
                    push.install("f81d4fae", { device = phone })
                    push.patch("f81d4fae", { { op = "add", path = "/tag", value = "Sports" } })
                    """,
                    fix: """
                        push.install("f81d4fae", { device = phone })
                        push.patch("f81d4fae", { { op = "add", path = "/tags", value = "Sports" } })
                        """)),
        ])

    private static let notification = ErrorArea(
        "notification", "notifications",
        [
            ErrorDescription(
                "notification.format", .answer, means: "The notification has no valid format.",
                when: "The header ServiceBusNotification-Format of a send is missing or names an unknown format. Status 400.",
                fix: "Send the header with apple, fcmV1, windows, browser, template or another format listed in the message."),
            ErrorDescription(
                "notification.schedule", .answer, means: "The notification has no valid due time.",
                when: "The header ServiceBusNotification-ScheduleTime of a scheduled send is missing or invalid. Status 400.",
                fix: "Send the time in UTC, such as 2026-01-31T12:00:00Z."),
            ErrorDescription(
                "notification.batch", .answer, means: "The batch cannot be read.",
                when: "The multipart body is malformed, lacks the part notification or devices, or has no devices or more than 1,000. "
                    + "Status 400.",
                fix: "Send both parts, each after the boundary in Content-Type, with the devices as a JSON array of handles."),
            ErrorDescription(
                "notification.not_found", .failure, means: "The hub has no notification with this id.",
                when: "push.outcome got an id that no send of this hub returned; or a notification to cancel has already ended: it was "
                    + "sent or cancelled, or no device matched. Status 404.",
                fix: "Use outcome.id of the send. A notification that has ended cannot be cancelled.",
                example: .lua(
                    "push.outcome \"n-42\"",
                    fix: """
                        local sent = push.send { device = phone, alert = "Hello" }
                        print(push.outcome(sent.id).state)
                        """)),
            ErrorDescription(
                "notification.forgotten", .failure, .answer, means: "The notification has been deleted.",
                when: "A trace is requested for a notification that ended longer ago than the server stores notifications. Its delivery "
                    + "results were deleted too. Status 404.",
                fix: "Trace notifications sooner, or store them longer with keep.notifications in the settings."),
        ])

    private static let credential = ErrorArea(
        "credential", "credentials of push services",
        [
            ErrorDescription(
                "credential.invalid", .refusal, .answer, means: "A credential of a push service is invalid.",
                when: "The message names the problem: a key is not PKCS#8, a file has the wrong type, a certificate has a wrong password, "
                    + "has expired, or is for another app or environment, a service account lacks a field, a package SID is invalid, the "
                    + "two VAPID keys do not match, or the VAPID contact is missing. The credential is not stored. Status 400.",
                fix: "Download the key or service account again from the console of the push service and use it unchanged. Export a "
                    + "certificate together with its key, as .p12. pushhost hub credentials check tests credentials with the push "
                    + "services; pushhost doctor checks those in the settings."),
            ErrorDescription(
                "credential.not_found", .answer, means: "The hub has no credential of its own for this push service.",
                when: "The credential is to be removed, but the hub has none or uses that of the server's settings. Status 404.",
                fix: "pushhost hub credentials show shows the source of each credential. Change those of the settings in the settings "
                    + "file."),
        ])

    private static let channel = ErrorArea(
        "channel", "broadcast channels of APNs",
        [
            ErrorDescription(
                "channel.refused", .answer, means: "APNs rejected the operation on a broadcast channel.",
                when: "A channel cannot be created, read or deleted. The message and details have APNs' reason (BadChannelId, "
                    + "ChannelNotRegistered, CannotCreateChannelConfig, FeatureNotEnabled …), and the status is that of APNs. If the hub "
                    + "has no APNs credential, the status is 409.",
                fix: "Follow the hint. A channel belongs to one app and one environment, and broadcasts must be enabled for the app in "
                    + "Apple's developer account."),
            ErrorDescription(
                "channel.unreachable", .answer, means: "APNs did not respond to a request about broadcast channels.",
                when: "Its channel host, on port 2196 or, for development, 2195, cannot be reached or did not respond. Status 502.",
                fix: "Allow outbound connections to it. The channel may have been created nevertheless; check with pushhost apns channels "
                    + "list."),
        ])
}
