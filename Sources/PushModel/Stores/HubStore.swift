/// All stores of a hub.
package typealias HubStore =
    RegistrationStore & DepartureStore & NotificationStore & JobStore & PrunedStore & HeldRemovalStore & PlanStore
