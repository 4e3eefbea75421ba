/// The reason why a device did or did not show a notification: the conclusion of a trace.
///
/// In the order of delivery: device, audience, content, plugins, time, push service, phone.
package enum TraceCause: String, Sendable, Hashable, CaseIterable {
    // The device and its registration.
    case notRegistered = "not_registered"
    case registeredLater = "registered_later"
    case registrationExpired = "registration_expired"
    case registrationDeleted = "registration_deleted"
    case registrationReplaced = "registration_replaced"
    case registrationLeft = "registration_left"
    case tokenDead = "token_dead"
    // The audience.
    case tagMissing = "tag_missing"
    case tagPresent = "tag_present"
    case tagsChanged = "tags_changed"
    case wrongPlatform = "wrong_platform"
    case needsTemplate = "needs_template"
    case needsNative = "needs_native"
    case notAddressed = "not_addressed"
    case notDrawn = "not_drawn"
    case notInPlan = "not_in_plan"
    case planForgotten = "plan_forgotten"
    case duplicate
    // The content.
    case propertyMissing = "property_missing"
    case payloadTooLarge = "payload_too_large"
    // Plugins.
    case vetoed
    case hookFailed = "hook_failed"
    case held
    // Time.
    case scheduled
    case paced
    case waiting
    case cancelled
    case abandoned
    case planLost = "plan_lost"
    case audienceGrown = "audience_grown"
    case onlyPlanned = "only_planned"
    case expired
    // The push service.
    case circuitOpen = "circuit_open"
    case credentialBlocked = "credential_blocked"
    case serviceInTrouble = "service_in_trouble"
    case throttled
    case noAnswer = "no_answer"
    case noCredentials = "no_credentials"
    case credentialsRefused = "credentials_refused"
    case otherEnvironment = "other_environment"
    case labFull = "lab_full"
    case rejected
    // The phone.
    case accepted
    case phoneOffline = "phone_offline"
    case offlineAndLost = "offline_and_lost"
    case savesPower = "saves_power"
    case replacedWaiting = "replaced_waiting"
    case expiredWaiting = "expired_waiting"
    case forceQuit = "force_quit"
    case uninstalled
    case phoneFailed = "phone_failed"
    case nothingToShow = "nothing_to_show"
    case background
    case leftToApp = "left_to_app"
    case replacedShown = "replaced_shown"
    case shown
    // Nothing stored explains it.
    case unexplained
}

extension TraceCause {
    /// The meaning of the cause for the user of the phone.
    package enum Result: String, Sendable, CaseIterable {
        case shown
        case notShown = "not_shown"
        /// May still be shown.
        case pending
        /// Only the phone knows.
        case unknown
    }

    package var result: Result {
        switch self {
        case .shown, .replacedShown: .shown
        case .held, .scheduled, .paced, .waiting, .circuitOpen, .credentialBlocked, .phoneOffline, .savesPower: .pending
        case .accepted, .noAnswer, .leftToApp, .duplicate, .tagsChanged, .registrationLeft, .planForgotten, .unexplained: .unknown
        case .notRegistered, .registeredLater, .registrationExpired, .registrationDeleted, .registrationReplaced, .tokenDead, .tagMissing,
            .tagPresent, .wrongPlatform, .needsTemplate, .needsNative, .notAddressed, .notDrawn, .notInPlan, .propertyMissing,
            .payloadTooLarge,
            .vetoed,
            .hookFailed, .cancelled, .abandoned, .planLost, .audienceGrown, .onlyPlanned, .expired, .serviceInTrouble, .throttled,
            .noCredentials,
            .credentialsRefused,
            .otherEnvironment, .labFull, .rejected, .offlineAndLost, .replacedWaiting, .expiredWaiting, .forceQuit, .uninstalled,
            .phoneFailed,
            .nothingToShow, .background:
            .notShown
        }
    }

    /// One sentence for readers who do not know the system, with `{name}` for values.
    package var pattern: String {
        switch self {
        case .notRegistered: "{device} is not registered with this hub, and no record shows that it ever was."
        case .registeredLater: "{device} registered at {registered}, after the notification was sent at {sent}."
        case .registrationExpired: "The registration of {device} expired at {time}, so there was no device to send to."
        case .registrationDeleted: "The registration of {device} was deleted at {time}, so there was no device to send to."
        case .registrationReplaced:
            "The registration of {device} was removed at {time} by a change of its installation, so there was no device to send to."
        case .registrationLeft:
            "{device} was removed from the hub at {time}, after the notification was sent, and its registration is no longer stored."
        case .tokenDead:
            "{device} was removed from the hub at {time} because {service} reported its address as invalid ({reason})."
        case .tagMissing: "The notification was for {expression}, and {device} does not have the tag {tag}."
        case .tagPresent: "The notification was for {expression}, which leaves out {device} because it has the tag {tag}."
        case .tagsChanged:
            "{device} did not get it, and would now: its registration was changed at {time}, after the notification was sent."
        case .wrongPlatform: "The notification has nothing for {service}, and {device} is reached only through {service}."
        case .needsTemplate: "The notification fills in templates, and {device} registered without a template."
        case .needsNative: "The notification is for registrations without a template, and {device} registered with one."
        case .notAddressed: "The notification was sent directly to {count}, and {device} is not among them."
        case .notDrawn:
            "It was a test send, which reaches ten of the {count} matching devices, chosen at random, and {device} was not chosen."
        case .notInPlan:
            "The notification was sent only to the devices of the plan {plan}, and {device} was not among them: {reason}."
        case .planForgotten:
            "The notification was sent only to the devices of the plan {plan}, which is no longer stored: {device} may have been one."
        case .duplicate:
            "{device} is registered twice with the same address, and the notification went out through the other one, {other}."
        case .propertyMissing:
            "The template of {device} shows {property}, which the notification does not have, so there was no text to show."
        case .payloadTooLarge: "For {device} the notification has {size} bytes, and {service} accepts at most {limit}."
        case .vetoed: "The plugin {plugin} blocked it for {device}: {reason}."
        case .hookFailed: "A plugin that decides about {device} failed, so it was not sent: {reason}."
        case .held: "The plugin {plugin} deferred it for {device} until {time}: {reason}."
        case .scheduled: "The notification is scheduled for {time}."
        case .paced: "The notification is sent at {pace}, and will reach {device} at about {time}."
        case .waiting: "The notification is in progress and has not been sent to {device} yet."
        case .cancelled: "The notification was cancelled at {time}, before it was sent to {device}."
        case .abandoned: "The delivery ended at {time}, before the notification was sent to {device}: {reason}."
        case .planLost: "The plan {plan} could not be read when the notification was to be sent to its devices, so it was not sent."
        case .audienceGrown:
            "When the notification was due, it would have reached {count}, more than {allowed}, so it was not sent."
        case .onlyPlanned: "The notification was only planned, so nothing was sent to {device}."
        case .expired: "The notification expired at {time}, before it was sent to {device}."
        case .circuitOpen: "{service} does not respond; the next attempt for {device} is at {time}."
        case .credentialBlocked:
            "{service} rejects the hub's credential ({reason}); the next attempt for {device} is at {time}: {explanation}."
        case .serviceInTrouble: "{service} failed repeatedly, so the delivery to {device} was given up ({reason}): {explanation}."
        case .throttled: "{service} throttled the notification repeatedly, so the delivery to {device} was given up ({reason})."
        case .noAnswer: "{service} never responded, so it is unknown whether {device} got it."
        case .noCredentials: "The hub has no credentials for {service}, the only way to reach {device}."
        case .credentialsRefused: "{service} rejects the hub's credentials ({reason}): {explanation}."
        case .otherEnvironment:
            "The address of {device} does not belong to the app or environment that the hub sends to through {service} ({reason})."
        case .labFull: "{service} is simulated, and its lab has reached its limit of phones, so nothing reached {device}."
        case .rejected: "{service} rejected the notification for {device} ({reason}): {explanation}."
        case .accepted: "{service} accepted it for {device} at {time}; what a real phone does with it is known only to the phone."
        case .phoneOffline: "{device} has been offline since {time}, and {service} stores the notification until it is back."
        case .offlineAndLost: "{device} was offline at {time}, and the notification was sent without storage, so {service} dropped it."
        case .savesPower: "{device} has been in low power mode since {time}, and the notification is not urgent, so it waits."
        case .replacedWaiting: "While it waited for {device}, a later notification, {other}, replaced it at {time}."
        case .expiredWaiting: "The notification expired while {device} was unreachable; it was back at {time}."
        case .forceQuit: "The user had force-quit the app on {device}, and the notification needs the app to run."
        case .uninstalled: "The app was uninstalled from {device} at {time}."
        case .phoneFailed: "It reached {device} at {time}, which could not handle it: {reason}."
        case .nothingToShow: "It reached {device} at {time}, and has no text that a phone could show."
        case .background: "It reached {device} at {time} as a background push, which shows nothing by itself."
        case .leftToApp: "The app on {device} got it at {time}, and whether something is shown is up to the app's own code."
        case .replacedShown: "{device} showed it at {shown}, until a later notification, {other}, replaced it at {time}."
        case .shown: "{device} showed it at {time}."
        case .unexplained: "No record shows what happened to it on the way to {device}."
        }
    }

    /// The sentence without values, for lists and headings: "the device" instead of its name.
    package var generalSentence: String {
        var text = pattern
        for (part, words) in Self.generalWords { text = text.replacing(part, with: words) }
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The words for the parts of patterns that have values, in the order in which they are replaced.
    private static let generalWords = [
        ("{size} bytes, and {service} accepts at most {limit}", "more bytes than {service} accepts"),
        ("{count}, more than {allowed}", "more devices than allowed"), ("the {count} matching", "the matching"),
        ("{count}", "certain devices"), (" ({reason})", ""), (": {reason}", ""), (": {explanation}", ""), (", {other},", ""),
        (", {other}", ""), ("plan {plan}", "plan"), ("plugin {plugin}", "plugin"), ("tag {tag}", "tag"),
        (" is at {time}", " is at a later time"), (" back at {time}", " back later"), (" at {time}", ""), ("{time}", "a certain time"),
        (" at {registered}", ""), (" at {sent}", ""), (" at {shown}", ""), ("{device}", "the device"), ("{service}", "the push service"),
        ("{expression}", "a tag expression"), ("{property}", "a property"), ("{pace}", "a limited pace"),
    ]

    /// What to do about it.
    package var advice: String {
        switch self {
        case .notRegistered: "check the id, and whether the app registers with this hub; the user opens the app once"
        case .registeredLater: "send it again if it still matters"
        case .registrationExpired: "the app registers again when the user opens it"
        case .registrationDeleted: "find out whether the user signed out or the app unsubscribed; it registers again at the next sign-in"
        case .registrationReplaced: "trace the device by its installation, whose registrations change"
        case .registrationLeft: "the app registers again when the user opens it"
        case .tokenDead: "the user installs or opens the app; it registers again with its new address"
        case .tagMissing: "add the tag to the device, or send to an expression that it satisfies"
        case .tagPresent: "remove the tag from the device, or leave it out of the expression"
        case .tagsChanged: "send it again if it still matters"
        case .wrongPlatform: "add a payload for the platform, or send properties to templates"
        case .needsTemplate: "send a payload, or have the app register a template"
        case .needsNative: "send properties, or have the app register without a template too"
        case .notAddressed: "send to the device, or to a tag that it has"
        case .notDrawn: "send it for real, or to a tag that few have"
        case .notInPlan: "plan again and send to the new plan if it still matters"
        case .planForgotten: "trace sooner, or raise keep.plans in the settings"
        case .duplicate: "trace the other registration"
        case .propertyMissing: "send the property, or give it a default in the template"
        case .payloadTooLarge: "shorten the text, or send an id and let the app fetch the rest"
        case .vetoed: "nothing, if the plugin is right; else change its rule"
        case .hookFailed: "see what is wrong with the plugin: pushhost plugin list"
        case .held: "wait; the plugin chose the time"
        case .scheduled: "wait, or cancel it and send it now"
        case .paced: "wait, or send with a higher pace next time"
        case .waiting: "trace again soon"
        case .cancelled: "send it again if that was a mistake"
        case .abandoned: "send it again if it still matters"
        case .planLost: "plan again and send to the new plan; see the server's log"
        case .audienceGrown: "send it again if it still matters; it then requires approval"
        case .onlyPlanned: "run the flow instead of planning it"
        case .expired: "raise its time to live"
        case .circuitOpen: "wait; look at the push service's status page if it lasts"
        case .credentialBlocked: "wait; pushhost doctor shows what the push service rejects"
        case .serviceInTrouble: "send it again if it still matters"
        case .throttled: "send less to this device, or with a pace"
        case .noAnswer: "look at the phone before sending it again"
        case .noCredentials: "give the hub credentials: pushhost hub credentials"
        case .credentialsRefused: "correct the credentials, then send again: pushhost doctor"
        case .otherEnvironment: "compare the app's build with the credentials: production or development, bundle id, project"
        case .labFull: "raise lab.phones in the settings, or --phones of pushhost simulate; the device's token may be valid"
        case .rejected: "correct what the push service names"
        case .accepted: "on the phone, check: notifications allowed for the app, Focus or Do Not Disturb, network, the right account"
        case .phoneOffline: "wait until the phone is back online"
        case .offlineAndLost: "set a time to live"
        case .savesPower: "send it with high priority if it is urgent"
        case .replacedWaiting: "nothing: while a phone is offline, a push service stores only the latest of its kind"
        case .expiredWaiting: "raise its time to live"
        case .forceQuit: "the user opens the app once; send what must be seen as an alert"
        case .uninstalled: "the user installs the app again"
        case .phoneFailed: "correct the payload"
        case .nothingToShow: "send a text"
        case .background: "send an alert too, or have the app show something when it is woken"
        case .leftToApp: "look at what the app's code does with this push"
        case .replacedShown: "send with another collapse id to show both"
        case .shown: "nothing"
        case .unexplained: "trace again after the notification has ended, or see the server's log"
        }
    }
}
