# cmake -DNM=... -DOBJCOPY=... -DOBJECT=... -DKEEP=PATTERN -P hide_symbols.cmake: makes all defined
# symbols of an object local, except those with names of the pattern.

# Unique symbols of g++ merge with those of other libraries, even of another Boost. objcopy cannot
# make them local, but weak, and weak ones local.
execute_process(COMMAND ${NM} --defined-only ${OBJECT} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " u [^\n]+" unique "${symbols}")
list(TRANSFORM unique REPLACE "^ u " "")
list(JOIN unique "\n" unique)
file(WRITE ${OBJECT}.unique "${unique}\n")
execute_process(COMMAND ${OBJCOPY} --weaken-symbols=${OBJECT}.unique ${OBJECT}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --wildcard --keep-global-symbol=${KEEP} ${OBJECT}
                COMMAND_ERROR_IS_FATAL ANY)
