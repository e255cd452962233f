//! A program called `claude` that keeps its sessions in files as the real one does, before it follows a script.

/// A shell script. Its words are the scripted agent, the file of its script, and what `claude` is started with. It makes
/// a session's file when it is pinged, refuses ids that were used and sessions without a file, and else becomes the
/// agent. A file `slow` in its home makes it hang.
pub const CLAUDE_MANNERS: &str = r#"
agent="$1" script="$2"; shift 2
printf '%s\n' "$*" >> "$HOME/claude.log"
folder="$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')"
mkdir -p "$folder"
new= old= ping=
for word in "$@"; do
  case "$before" in --session-id) new="$word";; --resume) old="$word";; esac
  [ "$word" = ping ] && ping=1
  before="$word"
done
if [ -e "$HOME/slow" ]; then echo $$ > "$HOME/slow"; exec sleep 600; fi
if [ -n "$new" ]; then
  if [ -e "$folder/$new.jsonl" ] || [ -e "$HOME/burn-next" ]; then
    rm -f "$HOME/burn-next"; echo "Error: Session ID $new is already in use." >&2; exit 1
  fi
  echo '{}' > "$folder/$new.jsonl"
  if [ -n "$ping" ]; then echo pong; exit 0; fi
  exec "$agent" --protocol claude "$script" --session-id "$new"
fi
if [ ! -e "$folder/$old.jsonl" ]; then
  echo "No conversation found with session ID: $old" >&2; exit 1
fi
exec "$agent" --protocol claude "$script" --resume "$old"
"#;
