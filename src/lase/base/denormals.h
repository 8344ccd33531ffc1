#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lase {

// Numbers too small for their full precision make some processors a hundred times slower, and are
// zero for all that learning cares about.
#if defined(__SSE2__)
inline constexpr unsigned kFlushDenormals = 0x8040;  // results and operands
inline bool denormals_flushed() { return (_mm_getcsr() & kFlushDenormals) == kFlushDenormals; }
inline void flush_denormals(bool on) {
  _mm_setcsr(on ? _mm_getcsr() | kFlushDenormals : _mm_getcsr() & ~kFlushDenormals);
}
#else
inline bool denormals_flushed() { return false; }
inline void flush_denormals(bool) {}
#endif

// While it lives, this thread takes them for zero, or not; and so does parallel_for called from it.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool on = true) : before_(denormals_flushed()) { flush_denormals(on); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { flush_denormals(before_); }

 private:
  bool before_;
};

}  // namespace lase
