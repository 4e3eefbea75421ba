/// The plugins on whose behalf the current task runs. Their own hooks are skipped, so that no plugin triggers itself endlessly.
package enum HookOrigin {
    @TaskLocal package static var plugins: [String] = []
}
