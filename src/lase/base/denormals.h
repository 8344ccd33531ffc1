#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lase {

// Denormals make some processors a hundred times slower, and training does not need them: they are
// flushed to zero.
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

// Sets flushing for this thread, and for parallel_for called from it, during its lifetime.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool on = true) : previous_(denormals_flushed()) { flush_denormals(on); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { flush_denormals(previous_); }

 private:
  bool previous_;
};

}  // namespace lase
