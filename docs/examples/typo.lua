local push = require "push"

push.send {
  tags = "username:alice",
  alert = "Your order has shipped",
}
