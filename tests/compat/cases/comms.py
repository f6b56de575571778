"""Pings, messages, their claims and their receipts."""

from steps import Area

AREA = Area("comms")
PING, INBOX, CLAIM, DELIVERED = "/comms/ping", "/comms/inbox", "/comms/claim", "/comms/delivered"
SEND, REPLY, POLL, ACK = "/comms/send", "/comms/reply", "/comms/poll", "/comms/ack"
UNDELIVERED = "/comms/undelivered"
BODY = {"text": "look"}

AREA.post("ping", PING, {"to": "cm", "text": "hello", "from_": "cm-from"}, keep={"ping": "result.id"})
AREA.post(
    "ping-message", PING, {"to": "cm", "text": "hello", "kind": "message"}, keep={"second": "result.id"}
)
AREA.post("ping-kind-unknown", PING, {"to": "cm-odd", "text": "hello", "kind": "shout"})
AREA.post("ping-ref", PING, {"to": "cm", "text": "once", "from_": "cm-from", "ref": "p-1"})
AREA.post("ping-ref-again", PING, {"to": "cm", "text": "once", "from_": "cm-from", "ref": "p-1"})
AREA.post("ping-session", PING, {"to": "cm", "text": "hello", "session": "s-1", "lease": "l-1"})
AREA.post("ping-normalised", PING, {"to": "CM_Two", "text": "hello"})
AREA.post("ping-from", PING, {"to": "cm-3", "text": "hello", "from": "cm-from"})
AREA.post("ping-without-text", PING, {"to": "cm"})
AREA.post("ping-empty-text", PING, {"to": "cm", "text": " "})
AREA.post("ping-without-to", PING, {"text": "hello"})
AREA.post("ping-bad-to", PING, {"to": "c m", "text": "hello"})
AREA.post("ping-dotted-to", PING, {"to": "c.m", "text": "hello"})
AREA.post("inbox", INBOX, {"to": "cm"})
AREA.post("inbox-undelivered", INBOX, {"to": "cm", "undelivered": True})
AREA.post("inbox-since-later", INBOX, {"to": "cm", "since": 4_000_000_000})
AREA.post("inbox-empty", INBOX, {"to": "cm-none"})
AREA.post("inbox-without-to", INBOX, {"since": 0})
AREA.post("claim", CLAIM, {"id": "${ping}", "by": "a"})
AREA.post("claim-by-other", CLAIM, {"id": "${ping}", "by": "b"})
AREA.post("claim-by-same", CLAIM, {"id": "${ping}", "by": "a", "lease_s": 60})
AREA.post("claim-lease-short", CLAIM, {"id": "${second}", "by": "a", "lease_s": 1})
AREA.post("claim-lease-long", CLAIM, {"id": "${second}", "by": "a", "lease_s": 100_000})
AREA.post("claim-unknown", CLAIM, {"id": "r99999", "by": "a"})
AREA.post("claim-bad-id", CLAIM, {"id": "nonsense", "by": "a"})
AREA.post("todo", "/todo/add", {"text": "any row", "locus": "cm-todo"}, keep={"todo": "result.id"})
AREA.post("claim-todo", CLAIM, {"id": "${todo}", "by": "a"})
AREA.post("claim-without-by", CLAIM, {"id": "${ping}"})
AREA.post("claim-empty-by", CLAIM, {"id": "${ping}", "by": ""})
AREA.post("delivered-by-other", DELIVERED, {"id": "${ping}", "by": "b"})
AREA.post("delivered", DELIVERED, {"id": "${ping}", "by": "a"})
AREA.post("delivered-again", DELIVERED, {"id": "${ping}", "by": "a"})
AREA.post("delivered-again-by-other", DELIVERED, {"id": "${ping}", "by": "b"})
AREA.post("claim-delivered", CLAIM, {"id": "${ping}", "by": "b"})
AREA.post("delivered-unknown", DELIVERED, {"id": "r99999", "by": "a"})
AREA.post("inbox-after", INBOX, {"to": "cm"})
AREA.post(
    "send", SEND, {"to": "cm-msg", "body": BODY, "from_": "cm-from"}, keep={"message": "result.message_id"}
)
AREA.post(
    "send-ref",
    SEND,
    {"to": "cm-msg", "body": BODY, "from_": "cm-from", "ref": "m-1"},
    keep={"ref": "result.message_id"},
)
AREA.post("send-ref-again", SEND, {"to": "cm-msg", "body": BODY, "from_": "cm-from", "ref": "m-1"})
AREA.post(
    "send-ref-other-body", SEND, {"to": "cm-msg", "body": {"text": "other"}, "from_": "cm-from", "ref": "m-1"}
)
AREA.post(
    "send-to-session",
    SEND,
    {"to": "session:s9", "body": BODY, "from_": "cm-from", "session": "s1", "lease": "l1"},
)
AREA.post("send-text-body", SEND, {"to": "cm-msg2", "body": "just text"})
AREA.post("send-without-body", SEND, {"to": "cm-msg2"})
AREA.post("send-list-body", SEND, {"to": "cm-msg2", "body": [1, 2]})
AREA.post("send-large-body", SEND, {"to": "cm-msg2", "body": {"text": "x" * 66_000}})
AREA.post("send-without-to", SEND, {"body": BODY})
AREA.post("send-bad-to", SEND, {"to": "c m", "body": BODY})
AREA.post("send-bad-reply-to", SEND, {"to": "cm-msg2", "body": BODY, "reply_to": "not a url"})
AREA.post("undelivered", UNDELIVERED, {"locus": "cm-msg"})
AREA.post("poll-status", POLL, {"locus": "cm-msg", "status": "queued"})
AREA.post("poll-sender", POLL, {"locus": "cm-from", "role": "sender", "status": "queued"})
AREA.post("poll-all", POLL, {"locus": "cm-msg", "role": "all", "status": "queued"})
AREA.post("poll-role-unknown", POLL, {"locus": "cm-msg", "role": "nobody", "status": "queued"})
AREA.post("poll-status-unknown", POLL, {"locus": "cm-msg", "status": "bogus"})
AREA.post(
    "poll-limit",
    POLL,
    {"locus": "cm-msg", "status": "queued", "limit": 1},
    only=lambda body: body["result"]["count"],
)
AREA.post("poll-drain", POLL, {"locus": "cm-msg", "poller": "p"})
AREA.post("poll-drained", POLL, {"locus": "cm-msg", "poller": "p"})
AREA.post("poll-delivered", POLL, {"locus": "cm-msg", "status": "delivered"})
AREA.post("poll-sender-drain", POLL, {"locus": "cm-from", "role": "sender"})
AREA.post(
    "poll-session",
    POLL,
    {"locus": "session:s9", "status": "queued", "role": "recipient"},
    keep={"hook": "result.messages.0.message_id"},
)
AREA.post("ack", ACK, {"message_id": "${hook}", "status": "delivered"})
AREA.post("ack-again", ACK, {"message_id": "${hook}", "status": "delivered"})
AREA.post("ack-error", ACK, {"message_id": "${ref}", "status": "error"})
AREA.post("ack-back", ACK, {"message_id": "${ref}", "status": "queued"})
AREA.post("ack-status-unknown", ACK, {"message_id": "${ref}", "status": "bogus"})
AREA.post("ack-unknown", ACK, {"message_id": "ab" * 16})
AREA.post("ack-without-id", ACK, {"status": "delivered"})
AREA.post(
    "reply",
    REPLY,
    {"message_id": "${message}", "body": {"text": "seen"}, "from_": "cm-msg"},
    keep={"reply": "result.reply_id"},
)
AREA.post(
    "reply-again", REPLY, {"message_id": "${message}", "body": {"text": "seen twice"}, "from_": "cm-msg"}
)
AREA.post("reply-without-body", REPLY, {"message_id": "${message}"})
AREA.post("reply-without-from", REPLY, {"message_id": "${ref}", "body": {"text": "seen"}})
AREA.post("reply-unknown", REPLY, {"message_id": "ab" * 16, "body": BODY})
AREA.post("poll-replied", POLL, {"locus": "cm-msg", "status": "replied"})
AREA.post("poll-reply", POLL, {"locus": "cm-from", "status": "queued"})
AREA.post("poll-reply-sender", POLL, {"locus": "cm-from", "role": "sender", "status": "queued"})
AREA.post("poll-reply-drain", POLL, {"locus": "cm-from", "role": "sender", "poller": "p"})
AREA.post("undelivered-sender", UNDELIVERED, {"locus": "cm-from"})
AREA.post("undelivered-empty", UNDELIVERED, {"locus": "cm-none"})
AREA.post("undelivered-without-locus", UNDELIVERED, {"since": 0})
AREA.post("board-rows", "/todo/list", {"locus": "cm"})
AREA.post("board-rows-of-messages", "/todo/list", {"locus": "cm-msg"})
