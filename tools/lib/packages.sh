# Debian packages that Ardoise needs, and how to install missing ones. Sourced by tools/demo, tools/check, tools/bench.
# README.md explains the purpose of each library.

# To build and to profile.
build_packages=(g++ cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libboost-dev libfmt-dev libcli11-dev
  nlohmann-json3-dev libdw-dev libelf-dev libcairo2-dev libutf8proc-dev libzstd-dev zlib1g-dev libotf2-trace-dev)
# To render report.pdf.
# texlive-fonts-recommended contains the one font that hyperref itself loads under XeLaTeX (pzdr).
report_packages=(graphviz texlive-xetex texlive-latex-recommended texlive-fonts-recommended lmodern fonts-dejavu-core)
# To build and run every test and benchmark.
# MPICH's alternatives (mpicc, mpirun) have a lower priority than Open MPI's: the defaults stay.
test_packages=(libgtest-dev libgmock-dev mpich libmpich-dev gfortran clang libclang-rt-dev libtbb-dev python3-mpi4py ccache poppler-utils file netpipe-openmpi
  iproute2 slurmctld slurmd slurm-client otf2-tools python3-otf2)

# install_missing PACKAGE...: asks dpkg, installs only missing packages, and prints a line for each step.
install_missing() {
  local missing=()
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return 0
  fi
  local sudo=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are missing and neither root nor sudo is here to install them: ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  echo "   installing ${#missing[@]} Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "apt-get could not install them; its last lines are above." >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# step TEXT: prints one line before each long step, with the time since the start.
step() {
  printf '[%3d s] %s\n' "$SECONDS" "$*"
}

# Compiles code that several stages share (dev and mpich) once. The cache is in the tree, beside the builds.
compile_once() {
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache
  export CCACHE_DIR=$PWD/build-cache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
}

# Settings for Open MPI in a container: root is allowed, more ranks than cores, waiting ranks yield.
open_mpi_environment() {
  export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

# Tests put libraries of the build into LD_PRELOAD, whose entries end at a blank or colon. In a folder with one of them,
# everything runs through a link. The link stays, so that the next run finds the same build.
enter_plain_folder() {
  [[ $PWD == *[[:space:]:]* ]] || return 0
  local link
  link=/tmp/ardoise-$EUID-$(printf %s "$PWD" | cksum | cut -d ' ' -f 1)
  ln -sfn "$PWD" "$link"
  if [[ ! $link -ef $PWD ]]; then
    echo "'$PWD' has a blank or colon, and '$link' cannot be made a link to it: move the folder." >&2
    return 1
  fi
  cd "$link" || return 1
}
