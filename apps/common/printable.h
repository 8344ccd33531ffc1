#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

// Text with control characters (other than tab and newline) written as \\xNN, so that names in data
// files cannot send escape sequences to a terminal.
std::string printable(std::string_view text);

// A stream that writes printable() text to another one.
class PrintableStream : public std::ostream {
 public:
  explicit PrintableStream(std::ostream& to) : std::ostream(nullptr), buffer_(to) {
    rdbuf(&buffer_);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::ostream& to) : to_(to) {}

   protected:
    int overflow(int c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

   private:
    std::ostream& to_;
  };

  Buffer buffer_;
};
