import HTTPTypes
import PushModel

/// Masks the credentials of one exchange, in the order in which they appear.
///
/// Every credential becomes three stars, so that a record shows neither its length nor, in a repeated rehearsal, the random part of a
/// signature. Credentials of the request are also masked in the response, in case a service echoes them.
struct CredentialMask {
    static let stars = Array("***".utf8)
    private static let formFields: Set<String> = ["client_secret", "assertion", "refresh_token"]
    private static let answerFields = [#"access_token""#, #"refresh_token""#, #"id_token""#].map { Array($0.utf8) }

    /// Everything masked so far.
    private var secrets: [[UInt8]] = []

    mutating func apply(to fields: HTTPFields) -> [PushHeader] {
        var headers: [PushHeader] = []
        for field in fields {
            headers.append(PushHeader(field.name.rawName, maskedValue(field)))
        }
        return headers
    }

    private mutating func maskedValue(_ field: HTTPField) -> String {
        guard field.name == .authorization || field.name == .proxyAuthorization || field.name == .cookie else {
            return secrets.isEmpty
                ? field.value : String(decoding: replacingSecrets(Array(field.value.utf8)), as: UTF8.self)
        }
        let parts = field.value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else {
            remember(Array(field.value.utf8))
            return "***"
        }
        if parts[0].lowercased() == "vapid" { return "\(parts[0]) \(maskedParameters(parts[1]))" }
        remember(Array(parts[1].utf8))
        return "\(parts[0]) ***"
    }

    /// Masks `t=<token>, k=<key>` (RFC 8292, section 3). The key is public, and identifies the sender.
    private mutating func maskedParameters(_ list: Substring) -> String {
        var masked: [String] = []
        for parameter in list.split(separator: ",") {
            let parameter = parameter.drop { $0 == " " }
            if parameter.hasPrefix("k=") {
                masked.append(String(parameter))
            } else {
                let isToken = parameter.hasPrefix("t=")
                remember(Array(parameter.dropFirst(isToken ? 2 : 0).utf8))
                masked.append(isToken ? "t=***" : "***")
            }
        }
        return masked.joined(separator: ", ")
    }

    /// Masks the secret fields of a form; other bodies contain no credentials.
    mutating func applyToRequest(_ body: [UInt8], contentType: String?) -> [UInt8] {
        guard contentType?.lowercased().hasPrefix(FormBody.contentType) == true else { return body }
        var masked: [UInt8] = []
        for field in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            if !masked.isEmpty { masked.append(UInt8(ascii: "&")) }
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            if Self.formFields.contains(String(decoding: FormBody.decode(name), as: UTF8.self).lowercased()) {
                let value = field.dropFirst(name.count + 1)
                remember(Array(value))
                remember(FormBody.decode(value))
                masked += name + [UInt8(ascii: "=")] + Self.stars
            } else {
                masked += field
            }
        }
        return masked
    }

    /// Masks tokens in JSON, found by their quoted names, so that broken JSON is masked as well.
    mutating func applyToResponse(_ body: [UInt8]) -> [UInt8] {
        var masked: [UInt8] = []
        var rest = body[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            masked += rest[...quote]
            let name = string(in: rest[(quote + 1)...])
            masked += name
            rest = rest[name.endIndex...]
            guard Self.answerFields.contains(where: name.elementsEqual) else { continue }
            let gap = rest.prefix { $0 == 0x20 || (0x09...0x0d).contains($0) || $0 == UInt8(ascii: ":") }
            masked += gap
            rest = rest[gap.endIndex...]
            guard rest.first == UInt8(ascii: "\"") else { continue }
            let value = string(in: rest.dropFirst())
            remember(Array(value.last == UInt8(ascii: "\"") ? value.dropLast() : value))
            masked += [UInt8(ascii: "\"")] + Self.stars + [UInt8(ascii: "\"")]
            rest = rest[value.endIndex...]
        }
        return replacingSecrets(masked + rest)
    }

    /// The rest of a JSON string, including its closing quote; everything if there is none.
    private func string(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var index = bytes.startIndex
        while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes[..<min(index + 1, bytes.endIndex)]
    }

    /// Ignores short words: they are not secrets, and would mask half of a response.
    private mutating func remember(_ secret: [UInt8]) {
        if secret.count >= 8, !secrets.contains(secret) { secrets.append(secret) }
    }

    private func replacingSecrets(_ bytes: [UInt8]) -> [UInt8] {
        // Fast path: most fields are shorter than any token.
        secrets.reduce(bytes) { bytes, secret in
            bytes.count < secret.count ? bytes : bytes.replacing(secret, with: Self.stars)
        }
    }
}
