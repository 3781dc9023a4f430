// Loops over the host's cores.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace opentrn {

/// Threads a loop may use, the caller included: OPENTRN_NUM_THREADS, or the number of cores.
int thread_count();

/// Calls `body(first, last)` for ranges that together make up [begin, end). The caller takes part; returns when all are
/// done. Runs inline when there are no more than `grain` elements, and inside another parallel_for. Ranges are not
/// shorter than `grain` but for the last one. The first exception of a body stops the loop and is thrown to the caller.
void parallel_for(int64_t begin, int64_t end, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

/// A function that throws when the user wants work to stop (Ctrl-C), or null. The thread that called parallel_for calls
/// it while it waits and between ranges, at most every 50 ms.
void set_interrupt_check(void (*check)());

/// Calls the interrupt check when 50 ms have passed since this thread's last call of it. For long loops outside
/// parallel_for.
void check_interrupt();

}  // namespace opentrn
