# Compiler flags for all targets of this project, but not for third-party libraries.
add_library(lase_flags INTERFACE)
target_compile_options(lase_flags INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor
                       -ffp-contract=off)
if(LASE_SANITIZE)
  # Instrumented code confuses the analysis of uninitialized members.
  target_compile_options(lase_flags INTERFACE -fsanitize=${LASE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(lase_flags INTERFACE -fsanitize=${LASE_SANITIZE})
endif()
if(LASE_FUZZ)
  target_compile_options(lase_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
