/// Stores a hub's notifications: those accepted but not yet delivered (the outbox), and the results of the others.
package protocol NotificationStore: OutboxStore, NotificationHistory, OutcomeStore {}
