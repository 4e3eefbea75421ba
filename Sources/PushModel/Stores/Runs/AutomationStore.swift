/// Stores a server's flow runs, the schedules that start them, and hub events that have not been processed.
package protocol AutomationStore: RunStore, ScheduleStore, EventQueue {}
