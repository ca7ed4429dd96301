#!/bin/sh
# A program wrapped in a shell script, as batch scripts do: the MPI program is a child of the shell.
echo "wrapped: starting $1" >&2
exec "$@"
