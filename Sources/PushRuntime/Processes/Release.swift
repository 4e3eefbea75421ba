/// The version of the program, as `pushhost --version` prints it and servers report it.
package enum Release {
    package static let version = "0.1.0"
}
