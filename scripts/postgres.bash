# Sourced by ./test, after need.bash: one PostgreSQL server for all tests of a run, in a temporary folder.
#
# Debian's package is installed where it is missing, without a server of its own. Tests find ours in
# CONVOKE_TEST_POSTGRES, and the programs in CONVOKE_TEST_POSTGRES_BIN for servers that they start themselves.

postgres_folder=

# The folder with the programs of the newest PostgreSQL.
postgres_programs() {
  local found
  found=$(compgen -G "/usr/lib/postgresql/*/bin/initdb" | sort -V | tail -1) ||
    found=$(compgen -G "$tools/root/usr/lib/postgresql/*/bin/initdb" | sort -V | tail -1) ||
    found=$(type -P initdb)
  [[ -n $found ]] && dirname -- "$found"
}

install_postgres() {
  local sudo
  if postgres_programs >/dev/null; then
    return
  fi
  if may_install; then
    # Without this, the package makes a database and starts a server for it.
    "${sudo[@]}" mkdir -p /etc/postgresql-common
    if [[ ! -e /etc/postgresql-common/createcluster.conf ]]; then
      echo 'create_main_cluster = false' |
        "${sudo[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    install_packages postgresql
  else
    unpack postgresql
  fi
}

# Runs a command as a user who may run the server, which root may not.
as_postgres() {
  local user=postgres
  if [[ $(id -u) != 0 ]]; then
    "$@"
    return
  fi
  id "$user" >/dev/null 2>&1 || user=nobody
  setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@"
}

start_postgres() {
  local programs port
  install_postgres || return
  programs=$(postgres_programs) || return
  postgres_folder=$(mktemp -d /tmp/convoke-pg-XXXXXX)
  if [[ $(id -u) == 0 ]]; then
    chown "$(as_postgres id -u):$(as_postgres id -g)" "$postgres_folder"
  fi
  chmod 755 "$postgres_folder"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  (
    cd "$postgres_folder" &&
      as_postgres "$programs/initdb" -D data -U convoke -A trust -E UTF8 --locale=C --no-sync >log 2>&1 &&
      as_postgres "$programs/pg_ctl" -D data -l server.log -w -s \
        -o "-p $port -k $postgres_folder -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off" start
  ) || { cat "$postgres_folder"/*log >&2; return 1; }
  export CONVOKE_TEST_POSTGRES="postgres://convoke@127.0.0.1:$port/postgres?sslmode=disable"
  export CONVOKE_TEST_POSTGRES_BIN=$programs
}

stop_postgres() {
  if [[ -z $postgres_folder ]]; then
    return
  fi
  (cd "$postgres_folder" && as_postgres "$CONVOKE_TEST_POSTGRES_BIN/pg_ctl" -D data -m immediate -s stop) || true
  rm -rf -- "$postgres_folder"
  postgres_folder=
}
