/// Why a device shows a notification, or does not: what a trace comes to.
///
/// The order is that of the way: the device, the audience, the content, plugins, time, the push service, the phone.
package enum TraceCause: String, Sendable, Hashable, CaseIterable {
    // The device and its registration.
    case notRegistered = "not_registered"
    case registeredLater = "registered_later"
    case registrationExpired = "registration_expired"
    case registrationDeleted = "registration_deleted"
    case registrationReplaced = "registration_replaced"
    case registrationLeft = "registration_left"
    case tokenDead = "token_dead"
    // Whom it was for.
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
    // What was sent.
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
    // Where nothing that is kept says so.
    case unexplained
}

extension TraceCause {
    /// What it comes to for whoever holds the phone.
    package enum Result: String, Sendable, CaseIterable {
        case shown
        case notShown = "not_shown"
        /// It may still come.
        case pending
        /// Nobody but the phone knows.
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

    /// One sentence for people who do not know the system. What stands in braces is filled in.
    package var pattern: String {
        switch self {
        case .notRegistered: "{device} is not registered with this hub, and nothing that is kept says that it ever was."
        case .registeredLater: "{device} registered at {registered}, after the notification was sent at {sent}."
        case .registrationExpired: "The registration of {device} expired at {time}, so there was nobody to send to."
        case .registrationDeleted: "The registration of {device} was deleted at {time}, so there was nobody to send to."
        case .registrationReplaced:
            "The registration of {device} went at {time} with a change of its installation, so there was nobody to send to."
        case .registrationLeft:
            "{device} left the hub at {time}, after the notification was sent, and what it was registered for is not kept."
        case .tokenDead:
            "{device} left the hub at {time}: {service} said that it does not reach the app under this address ({reason})."
        case .tagMissing: "The notification was for {expression}, and {device} does not have the tag {tag}."
        case .tagPresent: "The notification was for {expression}, which leaves out {device} because it has the tag {tag}."
        case .tagsChanged:
            "{device} did not get it, and would now: its registration was changed at {time}, after the notification was sent."
        case .wrongPlatform: "The notification has nothing for {service}, and {device} is reached through {service} alone."
        case .needsTemplate: "The notification fills in templates, and {device} registered without a template."
        case .needsNative: "The notification is for registrations without a template, and {device} registered with one."
        case .notAddressed: "The notification was sent straight to {count}, and {device} is not among them."
        case .notDrawn:
            "It was a test send, which reaches ten devices drawn from the {count} that match, and {device} was not drawn."
        case .notInPlan:
            "The notification was sent to the devices of the plan {plan} alone, and {device} was not among them: {reason}."
        case .planForgotten:
            "The notification was sent to the devices of the plan {plan} alone, which is forgotten: nobody knows if {device} was among them."
        case .duplicate:
            "{device} is registered twice with the same address, and the notification went out through the other one, {other}."
        case .propertyMissing:
            "The template of {device} shows {property}, which the notification does not have, so there was no text to show."
        case .payloadTooLarge: "For {device} the notification came to {size} bytes, and {service} takes at most {limit}."
        case .vetoed: "The plugin {plugin} kept it from {device}: {reason}."
        case .hookFailed: "A plugin that decides about {device} could not be asked, so it was not sent: {reason}."
        case .held: "The plugin {plugin} holds it for {device} until {time}: {reason}."
        case .scheduled: "The notification is to be sent at {time}, and that is still to come."
        case .paced: "The notification goes out slowly, {pace}, and the turn of {device} comes at about {time}."
        case .waiting: "The notification is under way, and {device} has not had its turn yet."
        case .cancelled: "The notification was cancelled at {time}, before {device} had it."
        case .abandoned: "The delivery ended at {time} before it was the turn of {device}: {reason}."
        case .planLost: "The plan {plan} could not be read any more when the notification went out to its devices, so nobody got it."
        case .audienceGrown:
            "When the moment of the notification came it would have reached {count}, more than {allowed}, so nobody got it."
        case .onlyPlanned: "The notification was only planned, so nothing was sent to {device}."
        case .expired: "The notification was good until {time}, and that had passed before it was the turn of {device}."
        case .circuitOpen: "{service} answers nobody just now, so it waits for {device} and is tried again at {time}."
        case .credentialBlocked:
            "{service} refuses the hub's credential for now ({reason}), so it waits for {device} and is tried again at {time}: {explanation}."
        case .serviceInTrouble: "{service} was in trouble until it was too late for {device} ({reason}): {explanation}."
        case .throttled: "{service} wanted fewer notifications until it was too late for {device} ({reason})."
        case .noAnswer: "{service} was asked and never answered, so nobody knows whether {device} got it."
        case .noCredentials: "The hub has no credentials for {service}, through which alone {device} is reached."
        case .credentialsRefused: "{service} refuses the hub's credentials ({reason}): {explanation}."
        case .otherEnvironment:
            "The address of {device} does not belong to the app or environment that the hub sends to through {service} ({reason})."
        case .labFull: "{service} is simulated, and its lab has no room for another phone, so nothing reached {device}."
        case .rejected: "{service} refused the notification for {device} ({reason}): {explanation}."
        case .accepted: "{service} took it for {device} at {time}; what a real phone does with it only the phone itself knows."
        case .phoneOffline: "{device} has been offline since {time}, and {service} keeps the notification until it is back."
        case .offlineAndLost: "{device} was offline at {time}, and the notification is one that may not wait."
        case .savesPower: "{device} saves power since {time}, and the notification is not urgent, so it waits until then is over."
        case .replacedWaiting: "While it waited for {device}, a later notification, {other}, took its place at {time}."
        case .expiredWaiting: "{device} could not be reached for so long that the notification had expired when it was back at {time}."
        case .forceQuit: "The user had closed the app on {device} for good, and the notification needs the app to run."
        case .uninstalled: "The app was uninstalled from {device} at {time}."
        case .phoneFailed: "It reached {device} at {time}, which could do nothing with it: {reason}."
        case .nothingToShow: "It reached {device} at {time}, and has no text that a phone could show."
        case .background: "It reached {device} at {time} as a background push, which shows nothing by itself."
        case .leftToApp: "The app on {device} got it at {time}, and whether something is shown is up to the app's own code."
        case .replacedShown: "{device} showed it at {shown}, until a later notification, {other}, took its place at {time}."
        case .shown: "{device} showed it at {time}."
        case .unexplained: "Nothing that is kept says what became of it on the way to {device}."
        }
    }

    /// What to do about it.
    package var advice: String {
        switch self {
        case .notRegistered: "check the id, and whether the app registers with this hub; the user opens the app once"
        case .registeredLater: "send it again if it still matters"
        case .registrationExpired: "the app registers anew when the user opens it"
        case .registrationDeleted: "find out whether the user signed out or the app unsubscribed; it registers anew at the next sign-in"
        case .registrationReplaced: "name the device by its installation: registrations come and go with it"
        case .registrationLeft: "the app registers anew when the user opens it"
        case .tokenDead: "the user installs or opens the app; it registers anew with its new address"
        case .tagMissing: "add the tag to the device, or send to an expression that it satisfies"
        case .tagPresent: "remove the tag from the device, or leave it out of the expression"
        case .tagsChanged: "send it again if it still matters"
        case .wrongPlatform: "add a payload for the platform, or send properties to templates"
        case .needsTemplate: "send a payload, or have the app register a template"
        case .needsNative: "send properties, or have the app register without a template too"
        case .notAddressed: "send to the device, or to a tag that it has"
        case .notDrawn: "send it for real, or to a tag that few have"
        case .notInPlan: "plan once more and send to that plan if it still matters"
        case .planForgotten: "ask sooner, or have the server keep plans longer: keep.plans in the settings"
        case .duplicate: "trace the other registration"
        case .propertyMissing: "send the property, or give it a default in the template"
        case .payloadTooLarge: "shorten the text, or send an id and let the app fetch the rest"
        case .vetoed: "nothing, if the plugin is right; else change its rule"
        case .hookFailed: "see what is wrong with the plugin: pushhost plugin list"
        case .held: "wait; the plugin has chosen the moment"
        case .scheduled: "wait, or cancel it and send it now"
        case .paced: "wait, or send with a higher pace next time"
        case .waiting: "ask again in a moment"
        case .cancelled: "send it again if that was a mistake"
        case .abandoned: "send it again if it still matters"
        case .planLost: "plan once more, and send to that plan; look at the server's log"
        case .audienceGrown: "send it again if it still matters: then somebody else is asked to allow it"
        case .onlyPlanned: "run the flow instead of planning it"
        case .expired: "give it more time"
        case .circuitOpen: "wait; look at the push service's status page if it lasts"
        case .credentialBlocked: "wait; pushhost doctor names what the push service refuses"
        case .serviceInTrouble: "send it again if it still matters"
        case .throttled: "send less to this device, or with a pace"
        case .noAnswer: "look at the phone before sending it again"
        case .noCredentials: "give the hub credentials: pushhost hub credentials"
        case .credentialsRefused: "correct the credentials, then send again: pushhost doctor"
        case .otherEnvironment: "compare the app's build with the credentials: production or development, bundle id, project"
        case .labFull: "raise lab.phones in the settings, or --phones of pushhost simulate; the device's token may well be right"
        case .rejected: "correct what the push service names"
        case .accepted: "on the phone look at: notifications allowed for the app, Focus or Do Not Disturb, network, the right account"
        case .phoneOffline: "the phone gets back on the network"
        case .offlineAndLost: "give it time to live"
        case .savesPower: "send it with high priority if it is urgent"
        case .replacedWaiting: "nothing: while a phone is away a push service keeps the last one of its kind"
        case .expiredWaiting: "give it more time"
        case .forceQuit: "the user opens the app once; what must be seen is sent as an alert"
        case .uninstalled: "the user installs the app again"
        case .phoneFailed: "correct the payload"
        case .nothingToShow: "send a text"
        case .background: "send an alert too, or have the app show something when it is woken"
        case .leftToApp: "look at what the app's code does with this push"
        case .replacedShown: "send with another collapse id if both shall stay"
        case .shown: "nothing"
        case .unexplained: "ask again when the notification has ended; else look at the server's log"
        }
    }
}
