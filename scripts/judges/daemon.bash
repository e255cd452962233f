# Starts a daemon with a temporary home; to be sourced. Sets home, url and token, and ends it with the script.
# The demo agent is the only one that it finds, so nothing leaves the machine.

home=$(mktemp -d)
others=()
finish() {
  local pid
  for pid in "${others[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf -- "$home"
}
trap finish EXIT

# Waits until a file says something, and says it.
first_word() {
  local file=$1
  for _ in {1..100}; do
    if [[ -s $file ]]; then
      cat -- "$file"
      return
    fi
    sleep 0.1
  done
  echo "nothing was said in time: $file" >&2
  return 1
}

mkdir -m 700 "$home/.convoke"
mkdir "$home/team"
echo "{\"teams\": {\"alpha\": {\"path\": \"$home/team\", \"agent\": \"demo\"}}}" >"$home/.convoke/teams.json"
env -i HOME="$home" PATH=/usr/bin:/bin "$program" serve --listen 127.0.0.1:0 >"$home/out" 2>"$home/err" &
others+=($!)
url=$(first_word "$home/out" | sed -n 's/^Convoke is ready at //p')
[[ -n $url ]] || { cat "$home/err" >&2; exit 1; }
token=$(<"$home/.convoke/run/token")
