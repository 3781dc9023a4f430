// The end of the process.
#pragma once

namespace opentrn::torch_backend {

/// Ends the threads that ran backward passes, and waits until they are gone, a second at most. They take Python's lock
/// on their way out, which aborts the process if the interpreter has begun to end by then. To be called without the
/// lock; no backward pass can run afterwards.
void end_autograd_threads();

}  // namespace opentrn::torch_backend
