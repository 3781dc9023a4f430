// What the innermost loops are compiled for.
#pragma once

#include "base/loops.h"
#include "base/vector_clones.h"
