/// The actor that owns a directory, as the directory reaches it from tasks.
protocol DirectoryOwner: Actor {
    /// Deletes expired rows from the store.
    func deleteExpired() async
}
