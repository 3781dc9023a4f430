// Aligned memory for constants and temporaries, under this engine's names.
#pragma once

#include "base/workspace.h"

namespace opentrn::engines::reference {

using opentrn::aligned;
using opentrn::kAlignment;
using opentrn::Workspace;
using Buffer = opentrn::AlignedMemory;

}  // namespace opentrn::engines::reference
