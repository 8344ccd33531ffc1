# Writes page.html as a C++ source: cmake -DPAGE=… -DOUT=… -P page_text.cmake. Some compilers limit
# a string literal to 64 KiB, so the text is split into adjacent literals.
file(READ "${PAGE}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 12000 piece)
  string(APPEND pieces "R\"~page~(${piece})~page~\"\n")
  math(EXPR at "${at} + 12000")
endwhile()
file(WRITE "${OUT}" "#include \"report/page_text.h\"\n\nnamespace lase {\n\n"
     "std::string_view page_text() { return\n${pieces}; }\n\n}  // namespace lase\n")
