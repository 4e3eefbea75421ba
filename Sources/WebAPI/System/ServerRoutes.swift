/// The paths of the server itself.
package struct ServerRoutes: Sendable {
    let system: SystemRoutes
    let control: ControlRoutes?
    let lab: LabRoutes?

    /// - Parameters:
    ///   - control: Nil if the server cannot be controlled over HTTP.
    ///   - lab: Nil for a server without a lab.
    package init(system: SystemRoutes, control: ControlRoutes? = nil, lab: LabRoutes? = nil) {
        (self.system, self.control, self.lab) = (system, control, lab)
    }
}
