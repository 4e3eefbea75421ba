/// Valid payloads for the push types of APNs.
enum APNsPayloads {
    static let update = #"{"aps":{"timestamp":1767600000,"event":"update","content-state":{"score":1}}}"#
    static let start =
        #"{"aps":{"timestamp":1767600000,"event":"start","content-state":{},"attributes-type":"Game","attributes":{},"alert":{"title":"Hi"}}}"#

    static func fitting(_ type: String) -> String {
        switch type {
        case "background": #"{"aps":{"content-available":1}}"#
        case "liveactivity": update
        case "widgets", "controls": #"{"aps":{"content-changed":true}}"#
        case "mdm": #"{"mdm":"magic"}"#
        default: #"{"aps":{"alert":"Hi"}}"#
        }
    }
}
