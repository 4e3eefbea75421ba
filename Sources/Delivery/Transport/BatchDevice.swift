/// A device of a delivery.
protocol BatchDevice {
    /// Its index among the handles.
    var handleIndex: Int { get }
}
