import PushCore

/// Which causes of traces are produced where: together they are all that there are.
package enum TraceCauses {
    /// By simulated phones; the others need none.
    package static let ofPhones: Set<TraceCause> = [
        .phoneOffline, .offlineAndLost, .savesPower, .replacedWaiting, .expiredWaiting, .forceQuit, .uninstalled, .phoneFailed,
        .nothingToShow, .background, .leftToApp, .replacedShown, .shown,
    ]

    /// By flows that are planned, of sends that a hub never sees.
    package static let ofPlanning: Set<TraceCause> = [.onlyPlanned]
}
