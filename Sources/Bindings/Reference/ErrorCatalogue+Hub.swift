// Devices, the hub that knows them, and the services that reach them.
extension ErrorCatalogue {
    static let hubAreas: [ErrorArea] = [
        device, simulator, handle, hub, key, installation, notification, plan, credential, channel,
    ]

    private static let device = ErrorArea(
        "device", "phones",
        [
            ErrorDescription(
                "device.exists", .failure, .answer, means: "There is a phone of that name already.",
                when: "push.device is called twice with one name. Status 409.",
                cure: "Give every phone a name of its own; keep the phone in a variable to use it again.",
                example: .lua(
                    """
                    push.device { name = "ana-1" }
                    push.device { name = "ana-1" }
                    """,
                    cure: """
                        push.device { name = "ana-1" }
                        push.device { name = "ana-2" }
                        """)),
            ErrorDescription(
                "device.not_found", .failure, .answer, means: "There is no such phone.",
                when:
                    "push.find_device got a name that no phone of the run has, or a trace is asked for a device that no hub knows and that is "
                    + "called almost like one that it knows, or by fewer than six characters of a handle. Status 404.",
                cure: "Take the name that the message proposes, or six characters of the handle; push.devices lists all phones.",
                example: .lua(
                    """
                    push.device { name = "ana-1" }
                    print(push.find_device "ana1".platform)
                    """,
                    cure: """
                        push.device { name = "ana-1" }
                        print(push.find_device "ana-1".platform)
                        """)),
            ErrorDescription(
                "device.uninstalled", .failure, means: "The app is not installed on the phone.",
                when: "After phone:uninstall() the phone has no handle, so it cannot be registered or sent to. Status 409.",
                cure: "Call phone:reinstall() and register again: the handle is a new one.",
                example: .lua(
                    """
                    phone:uninstall()
                    session:register { device = phone }
                    """,
                    cure: """
                        phone:uninstall()
                        phone:reinstall()
                        session:register { device = phone }
                        """)),
            ErrorDescription(
                "device.platform", .failure, means: "There are no simulated phones on this platform.",
                when: "A host of scripts asks for a phone on a platform that PushHost keeps for clients of Azure and does not "
                    + "deliver to, such as ADM. Status 400.",
                cure: "Take apns, fcm, gcm, wns or browser."),
            ErrorDescription(
                "device.storage_full", .failure, means: "The app's storage is full.",
                when: "Names and values come to more than 1 MiB.", cure: "Store less, or remove what is not needed.",
                example: .lua(
                    "phone:storage().picture = (\"x\"):rep(2 << 20)", cure: "phone:storage().picture = \"picture-17\"")),
        ])

    private static let simulator = ErrorArea(
        "simulator", "faults of the simulated push services, and their control plane",
        [
            ErrorDescription(
                "simulator.reason", .failure, .answer, means: "The push service has no reason of that name.",
                when: "A simulator is told to fail with a reason that the real service never gives, or one of its token endpoint is "
                    + "ordered for notifications. Status 400.",
                cure: "Take a reason of the service's own list; the hint proposes the nearest.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"UNREGISTERED\", next = 1 }",
                    cure: "push.simulator.apns:fail { reason = \"Unregistered\", next = 1 }")),
            ErrorDescription(
                "simulator.count", .misuse, means: "A fault is ordered for less than one notification.",
                when: "next is below 1.", cure: "Give 1 or more; fail without next goes on until reset.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"Unregistered\", next = 0 }",
                    cure: "push.simulator.apns:fail { reason = \"Unregistered\", next = 1 }")),
            ErrorDescription(
                "simulator.handle", .failure, .answer, means: "The phone gets nothing through this push service.",
                when: "A fault is ordered from one service for a phone of another, or for a phone where access tokens are given out, "
                    + "which are for no single one. Status 400.",
                cure: "Name the service of the phone; leave the phone out for access tokens.",
                example: .lua(
                    "push.simulator.fcm:fail { reason = \"UNREGISTERED\", device = phone }",
                    cure: "push.simulator[phone.platform]:fail { reason = \"Unregistered\", device = phone }")),
            ErrorDescription(
                "simulator.share", .failure, .answer, means: "A fault is ordered for a share that is none.",
                when: "The share is 0, below, or above 1. Status 400.",
                cure: "Give a number above 0 and up to 1, such as 0.05 for one of twenty, or leave it out for all.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"Shutdown\", share = 5 }",
                    cure: "push.simulator.apns:fail { reason = \"Shutdown\", share = 0.05 }")),
            ErrorDescription(
                "simulator.retry_after", .failure, .answer, means: "The answer of the service names no such pause.",
                when: "retry_after is ordered with a reason whose answers have no Retry-After, is longer than 1000000 seconds, or is "
                    + "no whole number of seconds. Status 400.",
                cure: "Leave it out, or take one of the reasons of the hint: those with status 429 and 503, 406 of WNS, all of APNs.",
                example: .lua(
                    "push.simulator.fcm:fail { reason = \"UNREGISTERED\", retry_after = \"30s\" }",
                    cure: "push.simulator.fcm:fail { reason = \"UNAVAILABLE\", retry_after = \"30s\" }")),
            ErrorDescription(
                "simulator.token", .failure, .answer, means: "The push service gives out no access tokens.",
                when: "Faults of access tokens are ordered from APNs or from browsers, whose senders sign tokens of their own. Status 400.",
                cure: "Leave out at = \"token\", or name fcm or wns.",
                example: .lua(
                    "push.simulator.apns:fail { reason = \"invalid_grant\", at = \"token\" }",
                    cure: "push.simulator.fcm:fail { reason = \"invalid_grant\", at = \"token\" }")),
            ErrorDescription(
                "simulator.host", .answer, means: "No simulated push service answers for the host.",
                when: "The Host of a request to pushhost simulate is neither that of a push service nor the machine's own. Status 421.",
                cure: "Send requests with the Host that the real service has, such as api.push.apple.com."),
            ErrorDescription(
                "simulator.protocol", .answer, means: "The simulated APNs is spoken to in HTTP/2 alone.",
                when: "A request to the simulated APNs comes over TLS with HTTP/1.1, which Apple does not have. Status 505.",
                cure: "Let the client name h2 when it connects, as one of Apple's does."),
            ErrorDescription(
                "simulator.path", .answer, means: "The control plane of the simulators has no such path.",
                when: "Method or path of a request to pushhost simulate are none of those that the hint lists. Status 404.",
                cure: "Take one of the hint; a service is apns, fcm, wns or webpush."),
            ErrorDescription(
                "simulator.request", .answer, means: "The control plane of the simulators cannot use what was sent.",
                when: "The body is no JSON object, a field is missing, unknown or has the wrong type, a number is out of its range: "
                    + "status 400. Or the body is larger than 64 KiB: status 413.",
                cure: "Write what the message and the hint say."),
        ])

    private static let handle = ErrorArea(
        "handle", "handles of devices at their push service",
        [
            ErrorDescription(
                "handle.invalid", .failure, means: "The handle has not the shape that its push service gives out.",
                when: "An APNs token is not hexadecimal, a WNS channel is no URI, a browser's subscription lacks its keys, or "
                    + "it is empty. Status 400.",
                cure: "Pass the handle as the app got it: APNs tokens as hex without blanks, FCM tokens as they are.")
        ])

    private static let hub = ErrorArea(
        "hub", "registrations at the hub, and who is reached",
        [
            ErrorDescription(
                "hub.restoring", .answer, means: "A backup is being restored.",
                when: "pushhost hub restore is under way on the server. Status 503, with Retry-After; nothing of the request was done.",
                cure: "Repeat the request some seconds later."),
            ErrorDescription(
                "hub.no_target", .warning, means: "Nobody is registered with tags that the expression names.",
                when: "push.send finds no registration: nothing was sent, the outcome is NoTargetFound. The tag may be "
                    + "misspelt, the device not registered yet, or it has a template while native payloads were sent "
                    + "(alert and payload reach native registrations, properties reach templates). With --fail-on-no-target "
                    + "the exit code is 6.",
                cure: "Look at the lines that begin with near; print registration.tags where the device registers.",
                example: .lua(
                    """
                    session:register { device = phone, tags = { "Sports" } }
                    push.send { to = "Sport", alert = "Goal" }
                    """,
                    cure: """
                        session:register { device = phone, tags = { "Sports" } }
                        push.send { to = "Sports", alert = "Goal" }
                        """)),
            ErrorDescription(
                "hub.registration_replaced", .warning, means: "A phone was registered again, as another kind.",
                when: "push.register, session:register and push.subscribe keep one registration for each phone. A phone that registers "
                    + "without a template loses the one that it had with a template, and the reverse: from then on native payloads, or "
                    + "properties, do not reach it.",
                cure: "Register the phone once, or install it: push.install with templates makes an installation that native payloads and "
                    + "templates reach.",
                example: .lua(
                    """
                    session:register { device = phone, template = '{"aps":{"alert":"$(text)"}}' }
                    session:register { device = phone }
                    """,
                    cure: """
                        push.install("alice-1", { device = phone, templates = { news = '{"aps":{"alert":"$(text)"}}' } })
                        """)),
            ErrorDescription(
                "hub.gone", .failure, means: "The registration id is not valid any more.",
                when: "The registration was deleted or has expired since the id was given out. Status 410. push.register asks "
                    + "for a new id and tries once more, so a script sees it only when that fails too.",
                cure: "Register again."),
            ErrorDescription(
                "hub.not_found", .failure, means: "The hub has no such registration or installation.",
                when: "An id is wrong, or what it stood for was deleted. Status 404.", cure: "Create it first.",
                example: .lua(
                    "push.installation \"f81d4fae\"",
                    cure: """
                        push.install("f81d4fae", { device = phone })
                        push.installation "f81d4fae"
                        """)),
            ErrorDescription(
                "hub.precondition_failed", .failure, means: "Somebody changed the registration in between.",
                when: "The ETag that was given is not the present one. Status 412.", cure: "Read it again and repeat the change."),
            ErrorDescription(
                "hub.installation", .failure, means: "The registration stands for an installation and is not changed by itself.",
                when: "A registration that the hub made for an installation is put or deleted. Status 409.",
                cure: "Change the installation."),
            ErrorDescription(
                "hub.continuation", .failure, means: "The continuation token is not of this hub.",
                when: "A list is asked for with a token that was made up, or is another hub's. Status 400.",
                cure: "Pass the token of the page before, or none for the first page."),
            ErrorDescription(
                "hub.idempotency_key", .failure, means: "The idempotency key cannot be used for this notification.",
                when: "It belongs to another notification, of which only the same request may be asked for again: status 422. Or it "
                    + "is not 1 to 255 visible ASCII characters: status 400.",
                cure: "Use a key once for each notification, and again only to repeat the request unchanged; a UUID will do."),
            ErrorDescription(
                "hub.throttled", .answer, means: "There were too many requests with this key, or test sends to this hub.",
                when: "A limit of requests a minute is set, or there were more than ten test sends in a minute. Status 429.",
                cure: "Wait as long as the header Retry-After says."),
            ErrorDescription(
                "hub.exists", .failure, means: "There is a hub of that name already.",
                when: "A hub is created under a name that another one has, in any case of its letters. Status 409.",
                cure: "Choose another name, or change the hub that there is."),
            ErrorDescription(
                "hub.stopped", .failure, means: "The hub takes nothing any more.",
                when: "The server is being stopped, or the hub deleted, while the request is on its way. Status 503.",
                cure: "Try again in a while; where the hub is gone the answer is 404 then."),
            ErrorDescription(
                "hub.name", .failure, means: "The name cannot be that of a hub.",
                when: "It is empty, longer than 260 characters, has characters that paths do not take, or words that stand for "
                    + "something else in paths, such as messages. Status 400.",
                cure: "Use letters, digits and - . _, with slashes between parts."),
            ErrorDescription(
                "hub.rule", .failure, means: "An authorization rule of the hub is not complete.",
                when: "Its name is no name or occurs twice, it has no rights, or a key is not 32 bytes in base64. Status 400.",
                cure: "Mend the rule that the message names."),
            ErrorDescription(
                "hub.ttl", .failure, means: "Registrations would not live long enough.",
                when: "A hub is given a time to live below a day for its registrations. Status 400.", cure: "Give P1D or more."),
            ErrorDescription(
                "hub.metadata", .failure, means: "The hub's user metadata are too long.",
                when: "They have more than 1,024 characters. Status 400.", cure: "Shorten them."),
            ErrorDescription(
                "hub.description", .failure, means: "The description is not that of a hub.",
                when: "A hub is to be made or changed with a time to live under a day, a rule without a name or rights, a key that is not "
                    + "32 bytes in base64, or too much metadata. Status 400.",
                cure: "Correct what the message names."),
        ])

    private static let key = ErrorArea(
        "key", "keys to a server and to its hubs",
        [
            ErrorDescription(
                "key.ceiling", .answer, means: "A key that may manage has no ceiling.",
                when: "A key is made with the right Manage and a ceiling: it could make itself another key without one. Status 409.",
                cure: "Leave out Manage, or the ceiling. guard.ceiling of the settings holds for every key."),
            ErrorDescription(
                "key.exists", .failure, means: "There is a rule of that name already.",
                when: "A rule is made under a name that another rule of the same hub or server has, or a rule of the server that a rule of "
                    + "a hub has, or the other way round: a token names its rule alone. Status 409.",
                cure: "Choose another name, or rotate the keys of the rule that there is."),
            ErrorDescription(
                "key.not_found", .failure, means: "There is no rule of that name.",
                when: "A key is rotated, or a rule removed, of a name that no rule of the hub or server has. Status 404.",
                cure: "List the keys to see which there are; names are compared letter by letter."),
            ErrorDescription(
                "key.last", .failure, means: "Nobody could manage the server any more.",
                when: "The last rule of the server with the right Manage is to be removed. Status 409.",
                cure: "Make another rule with Manage first, or rotate the keys of this one."),
        ])

    private static let installation = ErrorArea(
        "installation", "installations at the hub",
        [
            ErrorDescription(
                "installation.invalid", .failure, means: "The installation cannot be used.",
                when:
                    "Its id is empty, its id or user id has characters that a tag cannot have, or its expiration time has passed; or it "
                    + "has more than 100 templates, those of its tiles among them, more than 100 tiles, or more than 256 KiB (413). "
                    + "Status 400.",
                cure: "Use letters, digits and - _ @ # . : = only; give a time to come, or none; keep the templates that sends name.",
                example: .lua(
                    "push.install(\"my phone\", { device = phone })", cure: "push.install(\"my-phone\", { device = phone })")),
            ErrorDescription(
                "installation.user_id", .answer, means: "The key may not say whose device an installation is.",
                when: "A key with the right Listen alone writes an installation with a userId that it did not have, or gives one that "
                    + "keeps its userId another pushChannel, and the server has the setting hub.listen_user_id: refuse. Nothing was "
                    + "changed. Status 403.",
                cure: "Have your own server write the installation, with a key that has Send, or leave userId out."),
            ErrorDescription(
                "installation.channel", .misuse, means: "An installation has no channel, or two.",
                when: "push.install got neither a device nor a platform with a push_channel, or both.",
                cure: "Give the phone, or the platform and the handle that its app got.",
                example: .lua(
                    "push.install(\"f81d4fae\", { platform = \"apns\" })", cure: "push.install(\"f81d4fae\", { device = phone })")),
            ErrorDescription(
                "installation.filter", .misuse, means: "Installations are asked for by two things at once.",
                when: "push.installations got more than one of user, tag and platform.",
                cure: "Give one of them, and look at the rest inside the loop.",
                example: .lua(
                    "for each in push.installations { user = \"alice\", platform = \"apns\" } do print(each.id) end",
                    cure: """
                        for each in push.installations { user = "alice" } do
                          if each.platform == "apns" then print(each.id) end
                        end
                        """)),
            ErrorDescription(
                "installation.patch", .failure, .misuse, means: "A patch operation does not fit.",
                when: "The operation is not add, remove or replace, its path is none of an installation's, or its value is not "
                    + "what the path holds. Status 400.",
                cure: "Take one of the paths that the hint lists.",
                example: .lua(
                    """
                    push.install("f81d4fae", { device = phone })
                    push.patch("f81d4fae", { { op = "add", path = "/tag", value = "Sports" } })
                    """,
                    cure: """
                        push.install("f81d4fae", { device = phone })
                        push.patch("f81d4fae", { { op = "add", path = "/tags", value = "Sports" } })
                        """)),
        ])

    private static let notification = ErrorArea(
        "notification", "notifications that were sent",
        [
            ErrorDescription(
                "notification.format", .failure, means: "The notification does not say what it is.",
                when: "A served hub gets a send whose header ServiceBusNotification-Format is missing or of no known platform. Status 400.",
                cure: "Send the header with apple, fcmV1, windows, browser, template or another format that the message lists."),
            ErrorDescription(
                "notification.schedule", .failure, means: "The notification does not say when.",
                when: "A served hub gets a schedule whose header ServiceBusNotification-ScheduleTime is missing or no moment. Status 400.",
                cure: "Send the moment in UTC, such as 2026-01-31T12:00:00Z."),
            ErrorDescription(
                "notification.batch", .failure, means: "The batch cannot be read.",
                when: "A served hub gets a multipart body that is broken, lacks the part notification or devices, or names no device or "
                    + "more than 1,000. Status 400.",
                cure: "Send both parts, each behind the boundary of the Content-Type, with the devices as a JSON array of handles."),
            ErrorDescription(
                "notification.not_found", .failure, means: "The hub knows no notification with this id.",
                when: "push.outcome got an id that no send of this hub returned, or a scheduled notification that has run or was "
                    + "cancelled is to be cancelled. Status 404.",
                cure: "Keep outcome.id of the send.",
                example: .lua(
                    "push.outcome \"n-42\"",
                    cure: """
                        local sent = push.send { device = phone, alert = "Hello" }
                        print(push.outcome(sent.id).state)
                        """)),
            ErrorDescription(
                "notification.forgotten", .failure, .answer, means: "The notification was kept once, and is not any more.",
                when: "A trace is asked of a notification that ended longer ago than the server keeps notifications: what became of its "
                    + "devices is forgotten with it. Status 404.",
                cure: "Ask sooner, or let the server keep notifications longer: keep.notifications in its settings."),
        ])

    private static let credential = ErrorArea(
        "credential", "keys and accounts of the push services",
        [
            ErrorDescription(
                "credential.invalid", .failure, means: "A credential for a push service cannot be used.",
                when:
                    "A key is not in PKCS#8, a file is of another kind, the password of a certificate is wrong, a certificate has ended or is "
                    + "for another app or the other environment, a service account lacks a field, a package SID is none, the two VAPID "
                    + "keys are no pair, nobody is to be written to. The message says which. What is set so is not kept. Status 400.",
                cure: "Download the key or the service account again from the push service's console and use it unchanged; export a "
                    + "certificate together with its key, as .p12. pushhost hub credentials check asks the push services, pushhost "
                    + "doctor looks at those of the settings."),
            ErrorDescription(
                "credential.not_found", .failure, means: "A hub has no credential of its own for a push service.",
                when: "It is to be taken away, and the hub has none, or sends with that of the server's settings. Status 404.",
                cure: "pushhost hub credentials show tells where each is from; those of the settings are changed there."),
        ])

    private static let channel = ErrorArea(
        "channel", "broadcast channels of APNs",
        [
            ErrorDescription(
                "channel.refused", .failure, means: "A broadcast channel cannot be made, read or deleted.",
                when: "APNs refused, with the reason in the message and in the details (BadChannelId, ChannelNotRegistered, "
                    + "CannotCreateChannelConfig, FeatureNotEnabled …) and its own status; or the hub has no APNs credential (409).",
                cure: "Do as the hint says: channels belong to one app and one environment, and broadcasts are switched on for an app in "
                    + "Apple's developer account."),
            ErrorDescription(
                "channel.unreachable", .failure, means: "APNs gave no answer about broadcast channels.",
                when: "Its host for channels, on port 2196 or, for development, 2195, cannot be reached or did not answer. Status 502.",
                cure: "Let the server out to it. A channel may have been made nevertheless: look at pushhost apns channels list."),
        ])
}
