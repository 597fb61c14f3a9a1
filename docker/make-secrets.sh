#!/bin/sh
# Makes the secrets that compose.yml mounts into docker/secrets: those that are not there yet.
# Inside of the containers the account 1000 has to read them.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 0711 secrets

random() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

keep() {
  [ -s "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
}

umask 077
keep GATEWAY_SECRET "$(random 32)"
keep POSTGRES_PASSWORD "$(random 16)"
keep S3_SECRET_ACCESS_KEY "$(random 16)"
keep DATABASE_URL "postgres://gateway:$(cat secrets/POSTGRES_PASSWORD)@postgres:5432/gateway"

if [ "$(id -u)" = 0 ]; then
  chown -R 1000:1000 secrets
elif [ "$(id -u)" != 1000 ]; then
  chmod 0644 secrets/*
  echo 'docker/secrets is readable by other accounts of this machine, as the containers need it;'
  echo 'run this as root, or give the files to the account 1000, to close it.'
fi
echo "docker/secrets: $(ls secrets | tr '\n' ' ')"
