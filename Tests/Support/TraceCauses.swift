package import PushModel

/// Which part produces which causes of traces. Together they are all causes.
package enum TraceCauses {
    /// Produced by simulated devices. The other causes need none.
    package static let ofPhones: Set<TraceCause> = [
        .phoneOffline, .offlineAndLost, .savesPower, .replacedWaiting, .expiredWaiting, .forceQuit, .uninstalled, .phoneFailed,
        .nothingToShow, .background, .leftToApp, .replacedShown, .shown,
    ]

    /// Produced by planned flows, for sends that never reach a hub.
    package static let ofPlanning: Set<TraceCause> = [.onlyPlanned]
}
