/// The phases for which hooks are installed.
package protocol HookPhases: Sendable {
    /// Whether a hook is installed for this phase. Checked before each call, without waiting, so that nothing is prepared for a hook that
    /// does not exist.
    func hasHook(_ phase: HookPhase) -> Bool
}
