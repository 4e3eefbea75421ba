/// All stores of a hub.
package typealias HubStore =
    RegistrationStore & TombstoneStore & NotificationStore & JobStore & PrunedStore & HeldRemovalStore & PlanStore
