#pragma once

#include <string>

namespace opentrn::torch_backend {

/// The user's line that led here, "chat.py:31": the innermost Python frame outside installed packages and the standard
/// library, else the innermost one at all. On threads without Python frames (the autograd engine's) the main thread is
/// asked. Takes the GIL; meant for rare events.
std::string user_line();

}  // namespace opentrn::torch_backend
