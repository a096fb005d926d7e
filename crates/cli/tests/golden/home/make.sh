#!/bin/sh
# Makes a golden home from nothing: `sh make.sh BOSWELL ROOT OUT`. See README.md before running it again.
#
# ROOT gets the layout of a test bench: `home` (the user's), `boswell` (our own folder), `cwd`, `tmp`.
# Sessions are about /golden/shop, which need not exist: agents' logs are hashed, so they must not name ROOT.
set -eu
program=$1
root=$2
out=$3
here=$(cd "$(dirname "$0")" && pwd)

mkdir "$root" && mkdir "$root/home" "$root/cwd" "$root/tmp" "$root/bin"
cp "$program" "$root/bin/boswell"
cc -O1 -shared -fPIC -o "$root/tmp/shim.so" "$here/../../../../testkit/faults/shim.c" -ldl -lpthread
cd "$root/cwd"

run() {
    env -i HOME="$root/home" BOSWELL_HOME="$root/boswell" TMPDIR="$root/tmp" PATH=/usr/bin:/bin COLUMNS=100 \
        ${preload:+LD_PRELOAD="$root/tmp/shim.so" FAULT_ROOT="$root" FAULT_LOG="$root/tmp/calls" ${preload:-}} \
        "$root/bin/boswell" "$@"
}

# The ids of entries are random, so they are asked for: the N-th message of a session.
entry() {
    run show "$1" --records --json | grep '"id":"' | sed -n "$2p" | sed 's/.*"id":"\([^"]*\)".*/\1/'
}

# Nothing of the fixture may depend on the day on which the test runs: copies never expire, Claude deletes nothing.
mkdir -p "$root/home/.config/boswell"
cat > "$root/home/.config/boswell/config.toml" <<'END'
# Settings of the golden home.
idle = "36500d"
retention = { before = "never", deleted = "never" }
prices = { "golden-model" = { input = 1.5, output = 6 } }
END
mkdir -p "$root/home/.claude" "$root/home/.pi/agent/sessions" "$root/home/.myagents" "$root/home/.clinvk/sessions"
printf '{\n  "cleanupPeriodDays": 99999\n}\n' > "$root/home/.claude/settings.json"

# 1. Boswell's own sessions: every record type that boswell writes.
own=00000000-0001-7001-8001-00000000601d
run new --id $own --project /golden/shop --title 'Golden own'
run append $own --user 'why is the golden build red?'
printf '%s\n' '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"because the amber test fails"}],"api":"golden","provider":"golden","model":"golden-model","usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":120,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop"}}' |
    run append $own
printf '\211PNG\r\n\032\n%02000d' 0 > "$root/tmp/picture.png"
run append $own --user 'here is a picture' --attach "$root/tmp/picture.png"
answer=$(entry $own 3)
picture=$(entry $own 4)
run label $own "$answer" before-the-picture
blob=$(basename "$root"/boswell/blobs/*)
printf '%s\n' \
    "{\"type\":\"custom\",\"customType\":\"boswell.attachment\",\"data\":{\"name\":\"amber.png\",\"mime\":\"image/png\",\"blob\":\"blob:sha256:$blob\",\"len\":2008,\"at\":\"2026-11-16T00:00:00.000Z\"}}" \
    "{\"type\":\"custom\",\"customType\":\"boswell.checkpoint\",\"data\":{\"files\":[{\"path\":\"amber.png\",\"blob\":\"blob:sha256:$blob\",\"mode\":420,\"len\":2008}],\"at\":\"2026-11-16T00:00:00.000Z\"}}" \
    '{"type":"custom","customType":"boswell.meta","data":{"agent":"golden-agent","agent_version":"1.2.3","git_branch":"amber","external_ids":{"golden":"g-1"}}}' \
    '{"type":"model_change","provider":"golden","modelId":"golden-model"}' \
    "{\"type\":\"compaction\",\"summary\":\"they spoke of amber\",\"firstKeptEntryId\":\"$picture\",\"tokensBefore\":1234}" \
    '{"type":"custom","customType":"boswell.settings","data":{"model":"golden/restated-model","models":[["default","golden/restated-model"]],"thinkingLevel":"high","mode":null,"modeData":null,"rules":[],"other":[]}}' |
    run append $own
run append $own --user 'and what is amber?'
run tag $own release amber
run untag $own release
run status $own error --message 'out of amber'
fork=00000000-0002-7001-8001-00000000601d
run fork $own --at "$answer" --id $fork --title 'Golden fork'
run append $fork --user 'take the other way'
run append $fork --user 'no, go back'
run branch $fork "$(entry $fork 4)"
run memory add build 'use the golden compiler' --project /golden/shop
printf '%s\n' '{"text":"a prompt of the golden home","at":"2026-11-16T00:00:00.000Z","project":"/golden/shop","session":null}' \
    > "$root/boswell/prompts.jsonl"
run import "$here/import.jsonl" --title 'Golden import'
# It names the file that it came from.
sed -i "s|$here/|/golden/|" "$root"/boswell/sessions/*/*.jsonl

# 2. Sessions of agents, written by the program itself.
claude=aaaaaaaa-0001-4001-8001-00000000601d
run new --dialect claude --id $claude --project /golden/shop --title 'Golden Claude'
run append claude:$claude --user 'polish the brass lamp'
run new --dialect pi --id aaaaaaaa-0002-4001-8001-00000000601d --project /golden/shop --title 'Golden pi'
run append pi:aaaaaaaa-0002 --user 'polish the copper kettle'
run new --dialect myagents --id aaaaaaaa-0003-4001-8001-00000000601d --project /golden/shop --title 'Golden MyAgents'
run append myagents:aaaaaaaa-0003 --user 'polish the silver spoon'
run new --dialect clinvoker --id 0a0b0c0d0e0f0001 --project /golden/shop --title 'Golden clinvoker' --backend claude

# 3. What formats have no place for: notes.
run tag claude:$claude brass pinned
run status claude:$claude paused
run label claude:$claude "$(entry claude:$claude 4)" the-lamp
run tag myagents:aaaaaaaa-0003 silver

# 4. Operations of several kinds, one of them undone.
run rename pi:aaaaaaaa-0002 'Golden pi, renamed'
run rename myagents:aaaaaaaa-0003 'Golden MyAgents, renamed'
run undo
preload=FAULT_AT=0
run rename clinvoker:0a0b0c0d0e0f0001 'Golden clinvoker, renamed'
preload=
# The call that puts the second file of this operation into its place.
second=$(sed -n 's/^\([0-9]*\)\trename\tok\t.*sessions\/index.json$/\1/p' "$root/tmp/calls")
run fork claude:$claude --id aaaaaaaa-0004-4001-8001-00000000601d --title 'Golden Claude fork'

# 5. Archived, deleted, purged; copies of sessions that their agent deletes.
for name in archived:0005 deleted:0006 purged:0007 kept:0008; do
    id=aaaaaaaa-${name#*:}-4001-8001-00000000601d
    run new --dialect claude --id "$id" --project /golden/shop --title "Golden ${name%:*}"
    run append "claude:$id" --user "this session is ${name%:*}"
done
run new --dialect pi --id aaaaaaaa-0009-4001-8001-00000000601d --project /golden/shop --title 'Golden pi, archived'
run append pi:aaaaaaaa-0009 --user 'this kettle is archived'
run keep on
run archive claude:aaaaaaaa-0005 pi:aaaaaaaa-0009 --apply
run delete claude:aaaaaaaa-0006
run delete claude:aaaaaaaa-0007 --purge --apply
rm "$root"/home/.claude/projects/*/aaaaaaaa-0008-*.jsonl

# 6. A log whose sync failed, and an operation that was killed before its second change.
doubtful=00000000-0003-7001-8001-00000000601d
run new --id $doubtful --project /golden/shop --title 'Golden doubt'
run append $doubtful --user 'this is durable'
# The fifth call of an append is the sync of the log.
preload='FAULT_AT=5 FAULT_KIND=eio'
run append $doubtful --user 'whether this is durable is in doubt' || true
preload="FAULT_AT=$second FAULT_KIND=kill"
run rename clinvoker:0a0b0c0d0e0f0001 'Golden clinvoker, interrupted' || true
preload=
ls "$root"/boswell/locks/*.doubt "$root"/boswell/ops/intent-*.json "$root"/boswell/ops/stage-*
grep -q interrupted "$root"/home/.clinvk/sessions/0a0b0c0d0e0f0001.json
! grep -q interrupted "$root"/home/.clinvk/sessions/index.json

# 7. What is derived is left out: it is made again from the rest.
rm -rf "$root/bin" "$root/tmp" "$root"/boswell/catalog.db* "$root"/boswell/index

# 8. As files of a repository: ROOT becomes @ROOT@; folders, modes and times are in a list.
mkdir -p "$out"
(cd "$root" && find . -mindepth 1 -printf '%y %m %T@ %P\n' | LC_ALL=C sort -k 4) > "$out/manifest.txt"
(cd "$root" && find . -type f) | while read -r file; do
    mkdir -p "$out/tree/$(dirname "$file")"
    sed "s|$root|@ROOT@|g" "$root/$file" > "$out/tree/$file"
done
