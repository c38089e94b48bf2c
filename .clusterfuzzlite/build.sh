#!/bin/bash -eu
# Builds one program and copies it to $OUT under the name of each target, from which it knows its task, with the seeds beside it.
# FUZZ_ONLY limits that to one target. libstdc++ in place of libc++, because spdlog and fmt of the distribution are made with it;
# so `memory` cannot be among the sanitizers. The runner lacks these libraries, therefore they go along.
export CXXFLAGS="${CXXFLAGS//-stdlib=libc++/}"
build=${WORK:-$SRC/work}/hearsay
cmake -S "$SRC/hearsay" -B "$build" -G Ninja -D HEARSAY_FUZZ=ON -D CMAKE_BUILD_TYPE=None -D CMAKE_UNITY_BUILD=ON \
    -D HEARSAY_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -D CMAKE_BUILD_WITH_INSTALL_RPATH=ON -D CMAKE_INSTALL_RPATH='$ORIGIN/lib'
cmake --build "$build" --target hearsay_fuzz -j "${JOBS:-$(nproc)}"
mkdir -p "$OUT/lib"
for library in $(ldd "$build/hearsay_fuzz" | awk '$3 ~ /^\// { print $3 }'); do
    [[ $library =~ /(libc|libm|libresolv)\.so ]] || cp "$library" "$OUT/lib/"
done
for target in ${FUZZ_ONLY:-$("$build/hearsay_fuzz" --list)}; do
    cp "$build/hearsay_fuzz" "$OUT/$target"
    zip -jqr "$OUT/${target}_seed_corpus.zip" "$SRC/hearsay/tests/fuzz/corpus/$target"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 10\n' >"$OUT/$target.options"
done
