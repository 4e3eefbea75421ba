-- Writes registrations of 10,000 devices repeatedly. Arguments: token.
local number = 0

function init(arguments)
   token = arguments[1]
   math.randomseed(tonumber(tostring({}):match("0x(%x+)"), 16))
end

function request()
   number = math.random(10000)
   local id = string.format("%d-%d-1", 4000000000 + number, 7000000000 + number)
   local body = [[<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
<AppleTemplateRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
<Tags>username:user]] .. number .. [[,sports,technology</Tags><DeviceToken>]] .. string.format("%064X", number) .. [[</DeviceToken>
<BodyTemplate><![CDATA[{"aps":{"alert":"$(message)"}}]].. "]]" .. [[></BodyTemplate>
</AppleTemplateRegistrationDescription></content></entry>]]
   return wrk.format("PUT", "/hub/registrations/" .. id .. "?api-version=2015-01", {
      ["Authorization"] = token, ["Content-Type"] = "application/atom+xml;type=entry;charset=utf-8",
   }, body)
end

function response(status, headers, body)
   if status ~= 200 then io.stderr:write("PUT answered ", status, " ", body, "\n") wrk.thread:stop() end
end
