# What Doxygen reads of a header. A line that hosts need not see becomes empty, so that the numbers
# of the others stay.

# The namespace that keeps versions apart, and the one word that exports a symbol.
s/::inline v0//
s/K8S_SD_EXPORT //
# Comparison by value, and moving: as everywhere.
s/^.*operator(<=>|==)\(.*= default;$//
s/^ *([A-Za-z]+)\(\1&&.*\) noexcept( = default)?;.*$//
s/^.*& operator=\([A-Za-z]+&&.*\) noexcept( = default)?;$//
# Who else may use the private members.
s/^ *friend ((class|struct) )?detail::.*;$//
# Names that Asio prescribes.
s/^ *using executor_type = .*$//
# The specialisation by which Boost knows an enumeration of errors.
s/^template <>$//
s/^struct boost::system::is_error_code_enum<.*$//
